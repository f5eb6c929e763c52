// Where the picture lies on the canvas: pixels are scale · place + offset.

export class View {
  constructor() {
    Object.assign(this, { scale: 1, left: 0, top: 0, width: 1, height: 1, own: null });
  }

  fit(box, width, height) {
    Object.assign(this, { box, width, height });
    const [left, top, right, bottom] = box;
    const whole = Math.min((width - 16) / (right - left), (height - 16) / (bottom - top));
    this.whole = Math.max(whole, 1e-12);
    if (this.own) {
      this.scale = this.whole * this.own.times;
      this.centre(this.own.x, this.own.y);
    } else {
      this.scale = this.whole;
      this.centre((left + right) / 2, (top + bottom) / 2);
    }
  }

  centre(x, y) {
    this.left = this.width / 2 - this.scale * x;
    this.top = this.height / 2 - this.scale * y;
  }

  toPixels(x, y) {
    return [this.scale * x + this.left, this.scale * y + this.top];
  }

  toPlace(px, py) {
    return [(px - this.left) / this.scale, (py - this.top) / this.scale];
  }

  pan(dx, dy) {
    this.left += dx;
    this.top += dy;
    this.keep();
  }

  zoom(factor, px, py) {
    const scale = Math.max(this.whole / 2, Math.min(this.whole * 200, this.scale * factor));
    const [x, y] = this.toPlace(px, py);
    this.scale = scale;
    this.left = px - scale * x;
    this.top = py - scale * y;
    this.keep();
  }

  keep() {
    const [x, y] = this.toPlace(this.width / 2, this.height / 2);
    this.own = { times: this.scale / this.whole, x, y };
  }
}
