"""Train the ant's controller: PPO in JAX on MuJoCo's MJX, one jitted call an iteration.

Task: run towards a target 1 to 6 m away; on arrival (0.5 m), or at random once in 100 steps, the
next one. The reward is the progress in m/s less a small cost of torque; falling ends the episode;
random pushes stand for bumps.

``--walls K``: three environments in four are a random maze of 4 m cells. Before every step the K
blocks nearest to the ant are put in place as mocap boxes, so that K boxes stand for the whole
maze, and the next target is a random point of a neighbouring cell, one time in four of a
neighbour's neighbour. The policy does not see walls.

``--steady``: three resets in ten are tilted by up to 85°, pushes are harder, tilt beyond 37° and
falling cost extra, and an episode ends only after 2 s on the side or on the back.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jp
import mujoco
import numpy as np
import ogbench
from mujoco import mjx

from wayfield_study.sim.controllers import observe, torques

jax.config.update("jax_default_matmul_precision", "highest")

INPUTS, OUTPUTS = 29, 8
FRAME_SKIP, SECONDS = 5, 0.1
ARRIVED = 0.5
HORIZON = 500
CELL = 4.0
ANKLES = np.array([1.0, -1.0, -1.0, 1.0])
MOVES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
AROUND = np.array([[i, j] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j])
LOGGED = [
    "progress",
    "arrived",
    "fallen",
    "broken",
    "speed",
    "open_progress",
    "open",
    "open_fallen",
    "reward",
    "kl",
    "value_loss",
    "rate",
    "std",
    "return",
]
State = dict[str, Any]


# -------------------------------------------------------------------- physics


def load_model(integrator: str, walls: int) -> mujoco.MjModel:
    """OGBench's ant with contacts of torso and shins only, and `walls` movable blocks.

    The thighs' ends coincide with ends of torso and shins, so little is lost.
    """
    block = (
        '<body name="wall_{}" mocap="true" pos="0 0 -50">'
        '<geom type="box" size="2 2 1" contype="0" conaffinity="1"/></body>'
    )
    blocks = "".join(block.format(i) for i in range(walls))
    xml = Path(ogbench.__file__).parent / "locomaze" / "assets" / "ant.xml"
    text = xml.read_text().replace("</worldbody>", blocks + "</worldbody>")
    model = mujoco.MjModel.from_xml_string(text)
    for geom in range(model.ngeom):
        name = model.geom(geom).name
        if name.startswith("aux") or name.endswith("leg_geom") or name == "floor":
            model.geom_contype[geom] = 0  # the floor keeps its conaffinity
    model.opt.iterations, model.opt.ls_iterations = 4, 6
    known = {"rk4": mujoco.mjtIntegrator.mjINT_RK4, "euler": mujoco.mjtIntegrator.mjINT_EULER}
    model.opt.integrator = known[integrator]
    return model


def random_maze(size: int = 21, loops: float = 0.2, seed: int = 0) -> np.ndarray:
    """Free cells of a maze: a depth-first tree on the odd cells, and some walls taken out."""
    rng, free = np.random.default_rng(seed), np.zeros((size, size), bool)
    stack = [(1, 1)]
    free[1, 1] = True
    while stack:
        i, j = stack[-1]
        options = [
            (a, b)
            for a, b in 2 * MOVES
            if 0 < i + a < size - 1 and 0 < j + b < size - 1 and not free[i + a, j + b]
        ]
        if not options:
            stack.pop()
            continue
        a, b = options[rng.integers(len(options))]
        free[i + a // 2, j + b // 2] = free[i + a, j + b] = True
        stack.append((i + a, j + b))
    return free | np.pad(rng.random((size - 2, size - 2)) < loops, 1)


class Task:
    """One ant; `reset` and `step` are vectorised by the caller.

    A state holds position and velocity, the solver's warm start, the target, the steps taken,
    whether this ant is on open ground, and for how many steps it has been down.
    """

    def __init__(self, model: mujoco.MjModel, push: float, steady: bool) -> None:
        self.model, self.data = mjx.put_model(model), mjx.make_data(model)
        self.walls, self.push, self.steady = model.nmocap, push, steady
        self.free = jp.array(random_maze())
        self.cells = jp.array(np.argwhere(random_maze()))

    def reset(self, key: jax.Array) -> State:
        """Draw a place, a posture and a target."""
        k = jax.random.split(key, 10)
        is_open = jax.random.bernoulli(k[7], 0.25 if self.walls else 1.0)
        xy = jp.zeros(2)
        if self.walls:
            cell = self.cells[jax.random.randint(k[8], (), 0, len(self.cells))]
            xy = CELL * cell[::-1] + jax.random.uniform(k[9], (2,), minval=-1.0, maxval=1.0)
        yaw = jax.random.uniform(k[0], (), minval=-jp.pi, maxval=jp.pi)
        turn = jp.array([jp.cos(yaw / 2), 0.0, 0.0, jp.sin(yaw / 2)])
        turn = turn + jax.random.uniform(k[1], (4,), minval=-0.1, maxval=0.1)
        height = jax.random.uniform(k[2], (1,), minval=0.5, maxval=0.85)
        if self.steady:
            turn, height = self._tilted(jax.random.fold_in(key, 9), turn, height)
        hips = jax.random.uniform(k[3], (4,), minval=-0.4, maxval=0.4)
        ankles = jax.random.uniform(k[4], (4,), minval=-0.1, maxval=1.2) * jp.array(ANKLES)
        joints = jp.stack([hips, ankles], 1).reshape(-1)
        return {
            "position": jp.concatenate([xy, height, turn / jp.linalg.norm(turn), joints]),
            "velocity": 0.2 * jax.random.normal(k[5], (14,)),
            "warm": jp.zeros(14),
            "target": self._next_target(k[6], xy, is_open),
            "steps": jp.zeros((), jp.int32),
            "open": is_open,
            "down": jp.zeros((), jp.int32),
        }

    def step(self, state: State, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        """Return the next state (drawn anew after an end), reward, fallen, late, log, inputs.

        The inputs are those before a reset: the critic looks at where the step led.
        """
        k = jax.random.split(key, 6)
        u, before, after = self._simulate(state, action, k)
        position, velocity, warm, broken = after
        left = jp.linalg.norm(state["target"] - position[:2])
        progress = (jp.linalg.norm(state["target"] - before[:2]) - left) / SECONDS
        up = 1 - 2 * (position[4] ** 2 + position[5] ** 2) / jp.sum(position[3:7] ** 2)
        down = jp.where(up < 0.2, state["down"] + 1, 0)
        fallen = ((up < -0.5) | (down > 20) if self.steady else up < 0.2) | broken
        arrived = left < ARRIVED
        reward = progress - 0.02 * jp.sum(u**2) + 0.2 * up + 1.0 * arrived
        if self.steady:
            reward = reward - 3.0 * jp.maximum(0.8 - up, 0.0)
        reward = jp.where(broken, 0.0, jp.clip(reward, -10, 20)) * 0.1
        reward = reward - 10.0 * (fallen & self.steady)
        onward = self._next_target(k[5], position[:2], state["open"])
        switch = arrived | jax.random.bernoulli(k[4], 0.01)
        new = {
            "position": position,
            "velocity": velocity,
            "warm": warm,
            "target": jp.where(switch, onward, state["target"]),
            "steps": state["steps"] + 1,
            "open": state["open"],
            "down": down,
        }
        inputs = observe(position, velocity, new["target"], jp)[0]
        late = new["steps"] >= HORIZON
        fresh = self.reset(jax.random.fold_in(key, 7))
        new = jax.tree.map(lambda a, b: jp.where(fallen | late, a, b), fresh, new)
        speed, ground = jp.linalg.norm(velocity[:2]), state["open"]
        log = [progress, arrived, fallen, broken, speed, progress * ground, ground, fallen & ground]
        return new, reward, fallen, late & ~fallen, jp.array(log), inputs

    def _simulate(self, state: State, action: jax.Array, k: jax.Array) -> tuple[Any, ...]:
        """Apply an action and perhaps a push for one step; a state that blew up is put back."""
        _, turns = observe(state["position"], state["velocity"], state["target"], jp)
        u = torques(jp.clip(action, -1, 1), turns, jp)
        parts = [
            jax.random.normal(k[1], (2,)),
            0.3 * jax.random.normal(k[2], (1,)),
            jax.random.normal(k[3], (3,)),
            jp.zeros(8),
        ]
        shove = jp.concatenate(parts) * (1.5 if self.steady else 1.0)
        kicked = state["velocity"] + jax.random.bernoulli(k[0], self.push) * shove
        data = self.data.replace(
            qpos=state["position"], qvel=kicked, qacc_warmstart=state["warm"], ctrl=u
        )
        if self.walls:
            data = data.replace(mocap_pos=self._blocks(state["position"][:2], state["open"]))
        data = jax.lax.scan(lambda d, _: (mjx.step(self.model, d), None), data, None, FRAME_SKIP)[0]
        calm = jp.all(jp.isfinite(data.qpos)) & (jp.max(jp.abs(data.qvel)) < 200)
        broken = ~(calm & jp.all(jp.isfinite(data.qvel)))
        back = ((state["position"], data.qpos), (state["velocity"], data.qvel))
        position, velocity = (jp.where(broken, old, new) for old, new in back)
        warm = jp.where(broken, jp.zeros(14), data.qacc_warmstart)
        return u, state["position"], (position, velocity, warm, broken)

    def _tilted(self, key: jax.Array, turn: jax.Array, height: jax.Array) -> tuple[Any, Any]:
        """Tilt three in ten by up to 85° about a level axis: (tilt) · (turn)."""
        k1, k2, k3 = jax.random.split(key, 3)
        axis = jax.random.uniform(k1, (), maxval=2 * jp.pi)
        half = jax.random.uniform(k2, (), maxval=jp.pi * 85 / 360) * jax.random.bernoulli(k3, 0.3)
        w, (x, y) = jp.cos(half), jp.sin(half) * jp.array([jp.cos(axis), jp.sin(axis)])
        a, b, c, d = turn
        product = [
            w * a - x * b - y * c,
            w * b + x * a + y * d,
            w * c - x * d + y * a,
            w * d + x * c - y * b,
        ]
        return jp.array(product), height + 0.3 * jp.sin(half)

    def _cell(self, xy: jax.Array) -> jax.Array:
        return jp.clip(jp.floor(xy[::-1] / CELL + 0.5).astype(int), 1, self.free.shape[0] - 2)

    def _next_target(self, key: jax.Array, xy: jax.Array, is_open: jax.Array) -> jax.Array:
        a, b, c, d, e, f = jax.random.split(key, 6)
        angle = jax.random.uniform(a, (), minval=-jp.pi, maxval=jp.pi)
        radius = jax.random.uniform(b, (), minval=1.0, maxval=6.0)
        ring = xy + radius * jp.array([jp.cos(angle), jp.sin(angle)])
        if not self.walls:
            return ring

        def hop(cell: jax.Array, key: jax.Array) -> jax.Array:
            near = cell + MOVES
            lots = self.free[near[:, 0], near[:, 1]] + jax.random.uniform(key, (4,))
            return near[jp.argmax(lots)]  # a free neighbour beats every wall

        cell = hop(self._cell(xy), c)
        cell = jp.where(jax.random.bernoulli(d, 0.25), hop(cell, e), cell)
        inside = CELL * cell[::-1] + jax.random.uniform(f, (2,), minval=-1.5, maxval=1.5)
        return jp.where(is_open, ring, inside)

    def _blocks(self, xy: jax.Array, is_open: jax.Array) -> jax.Array:
        """Places of the mocap boxes: the nearest blocks; who is not needed lies deep below."""
        near = self._cell(xy) + AROUND
        centre = CELL * near[:, ::-1]
        gap = jp.linalg.norm(jp.maximum(jp.abs(xy - centre) - CELL / 2, 0.0), axis=1)
        gap = jp.where(self.free[near[:, 0], near[:, 1]] | is_open, 1e3, gap)
        order = jax.lax.top_k(-gap, self.walls)[1]
        height = jp.where(gap[order] < 2.0, 1.0, -50.0)[:, None]
        return jp.concatenate([centre[order], height], axis=1)


# -------------------------------------------------------------------- network


def new_network(key: jax.Array, sizes: list[int], last: float) -> list[tuple[Any, Any]]:
    """Orthogonal weights; the last layer small, so that the first actions are."""
    layers = []
    pairs = list(itertools.pairwise(sizes))
    for i, (k, (a, b)) in enumerate(zip(jax.random.split(key, len(pairs)), pairs, strict=True)):
        scale = last if i == len(pairs) - 1 else 1.4
        layers.append((jax.nn.initializers.orthogonal(scale)(k, (a, b), jp.float32), jp.zeros(b)))
    return layers


def network(layers: list[tuple[Any, Any]], x: jax.Array) -> jax.Array:
    for i, (weights, bias) in enumerate(layers):
        x = jp.dot(x, weights, precision="default") + bias
        x = jax.nn.swish(x) if i + 1 < len(layers) else x
    return x


def standardised(stats: State, x: jax.Array) -> jax.Array:
    return jp.clip((x - stats["mean"]) / jp.sqrt(stats["var"] + 1e-6), -10, 10)


def updated_stats(stats: State, raw: jax.Array) -> State:
    """Return running mean and variance of the inputs, forgetting beyond 20 million."""
    count, more = jp.minimum(stats["count"], 2e7), raw.shape[0]
    total, shift = count + more, raw.mean(0) - stats["mean"]
    between = shift**2 * count * more / total
    return {
        "mean": stats["mean"] + shift * more / total,
        "var": (stats["var"] * count + raw.var(0) * more + between) / total,
        "count": total,
    }


def save(path: Path, params: State, stats: State) -> None:
    """Write what `wayfield_study.sim.AntController` reads, and what training goes on from."""
    layers = {}
    for name, which in (("", "policy"), ("v", "critic")):
        for i, (weights, bias) in enumerate(params[which]):
            layers[f"{name}w{i}"], layers[f"{name}b{i}"] = weights, bias
    count = len(params["policy"])
    np.savez(path, layers=count, log_std=params["log_std"], **stats, **layers)


def restore(path: Path) -> tuple[State, State]:
    with np.load(path) as file:
        entry = {name: jp.array(file[name]) for name in file.files}
    layers = range(int(entry["layers"]))
    params = {
        "policy": [(entry[f"w{i}"], entry[f"b{i}"]) for i in layers],
        "critic": [(entry[f"vw{i}"], entry[f"vb{i}"]) for i in layers],
        "log_std": entry["log_std"],
    }
    return params, {name: entry[name] for name in ("mean", "var", "count")}


# -------------------------------------------------------------------- PPO


def make_iteration(task: Task, a: argparse.Namespace) -> Any:
    """One iteration, jitted whole: act, estimate advantages, update policy and critic."""
    lam, clip, target_kl = 0.95, 0.2, 0.01
    observe_all = jax.vmap(lambda s: observe(s["position"], s["velocity"], s["target"], jp)[0])
    step_all = jax.vmap(task.step)

    def log_prob(params: State, x: jax.Array, mean: jax.Array) -> jax.Array:
        off = (x - mean) / jp.exp(params["log_std"])
        return jp.sum(-0.5 * off**2 - params["log_std"], -1)

    def loss(params: State, b: State, key: jax.Array) -> tuple[Any, Any]:
        mean, value = (
            network(params["policy"], b["obs"]),
            network(params["critic"], b["obs"])[..., 0],
        )
        ratio = jp.exp(log_prob(params, b["x"], mean) - b["logp"])
        gain = (b["adv"] - b["adv"].mean()) / (b["adv"].std() + 1e-6)
        policy = -jp.minimum(ratio * gain, jp.clip(ratio, 1 - clip, 1 + clip) * gain).mean()
        near = b["value"] + jp.clip(value - b["value"], -1.0, 1.0)
        critic = 0.5 * jp.maximum((value - b["ret"]) ** 2, (near - b["ret"]) ** 2).mean()
        std, old = jp.exp(params["log_std"]), jp.exp(b["log_std"])
        x = mean + std * jax.random.normal(key, mean.shape)
        squash = 2 * (jp.log(2.0) - x - jax.nn.softplus(-2 * x))  # log of tanh's slope
        entropy = jp.sum(params["log_std"] + squash, -1).mean()
        moved = (old**2 + (b["mean"] - mean) ** 2) / (2 * std**2) - 0.5
        kl = jp.sum(params["log_std"] - b["log_std"] + moved, -1).mean()
        flat = jp.sum(jp.maximum(jp.abs(mean) - 3.0, 0.0) ** 2, -1).mean()  # tanh saturates
        return policy + 0.5 * critic - a.entropy * entropy + 1e-3 * flat, (kl, critic)

    def update(carry: Any, b: State) -> tuple[Any, Any]:
        """One step of Adam; the rate follows the divergence."""
        params, opt, rate, key = carry
        key, sub = jax.random.split(key)
        (_, (kl, critic)), grad = jax.value_and_grad(loss, has_aux=True)(params, b, sub)
        norm = jp.sqrt(sum(jp.sum(x**2) for x in jax.tree.leaves(grad)))
        grad = jax.tree.map(lambda x: x * jp.minimum(1.0, 1.0 / (norm + 1e-9)), grad)
        rate = jp.where(
            kl > 2 * target_kl, rate / 1.2, jp.where(kl < target_kl / 2, rate * 1.2, rate)
        )
        rate, t = jp.clip(rate, 1e-5, 1e-3), opt["t"] + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, opt["m"], grad)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, opt["v"], grad)
        params = jax.tree.map(
            lambda p, m, v: p - rate * (m / (1 - 0.9**t)) / (jp.sqrt(v / (1 - 0.999**t)) + 1e-8),
            params,
            m,
            v,
        )
        params["log_std"] = jp.clip(params["log_std"], -2.3, 0.5)
        return (params, {"m": m, "v": v, "t": t}, rate, key), (kl, critic)

    @functools.partial(jax.jit, donate_argnums=(0, 1, 3))
    def iteration(
        params: State, opt: State, rate: Any, state: State, stats: State, key: Any
    ) -> Any:
        std = jp.exp(params["log_std"])

        def act(carry: Any, key: jax.Array) -> tuple[Any, Any]:
            state, raw = carry
            draw, chance = jax.random.split(key)
            obs = standardised(stats, raw)
            mean = network(params["policy"], obs)
            x = mean + std * jax.random.normal(draw, mean.shape)
            keys = jax.random.split(chance, a.envs)
            state, reward, fallen, late, log, after = step_all(state, jp.tanh(x), keys)
            seen = {
                "raw": raw,
                "obs": obs,
                "x": x,
                "mean": mean,
                "logp": log_prob(params, x, mean),
                "value": network(params["critic"], obs)[..., 0],
                "next": network(params["critic"], standardised(stats, after))[..., 0],
                "reward": reward,
                "fallen": fallen,
                "late": late,
            }
            return (state, observe_all(state)), (seen, log)

        key, k1, k2, k3 = jax.random.split(key, 4)
        begin = (state, observe_all(state))
        (state, _), (b, log) = jax.lax.scan(act, begin, jax.random.split(k1, a.horizon))

        def advantage(carry: Any, t: State) -> tuple[Any, Any]:
            delta = t["reward"] + a.gamma * t["next"] * (1 - t["fallen"]) - t["value"]
            carry = delta + a.gamma * lam * (1 - (t["fallen"] | t["late"])) * carry
            return carry, carry

        _, adv = jax.lax.scan(advantage, jp.zeros(a.envs), b, reverse=True)
        batch = {name: b[name] for name in ("obs", "x", "mean", "logp", "value")}
        batch |= {"adv": adv, "ret": adv + b["value"]}
        count = a.envs * a.horizon
        batch = jax.tree.map(lambda x: x.reshape((count, *x.shape[2:])), batch)
        before = jp.broadcast_to(params["log_std"], (a.minibatches, OUTPUTS))

        def epoch(carry: Any, key: jax.Array) -> tuple[Any, Any]:
            order = jax.random.permutation(key, count)
            size = count // a.minibatches
            parts = jax.tree.map(
                lambda x: x[order].reshape((a.minibatches, size, *x.shape[1:])), batch
            )
            return jax.lax.scan(update, carry, parts | {"log_std": before})

        keys = jax.random.split(k3, a.epochs)
        (params, opt, rate, _), (kl, critic) = jax.lax.scan(epoch, (params, opt, rate, k2), keys)
        mean = [b["reward"].mean(), kl.mean(), critic.mean(), rate, std.mean(), batch["ret"].mean()]
        stats = updated_stats(stats, b["raw"].reshape(-1, INPUTS))
        return (
            params,
            opt,
            rate,
            state,
            stats,
            key,
            jp.concatenate([log.mean((0, 1)), jp.stack(mean)]),
        )

    return iteration


# -------------------------------------------------------------------- command line


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder for ant.npz and curve.csv")
    parser.add_argument("--seconds", type=float, default=420.0)
    parser.add_argument("--iterations", type=int, default=10**9)
    parser.add_argument("--integrator", choices=("rk4", "euler"), default="rk4")
    parser.add_argument("--walls", type=int, default=0)
    parser.add_argument("--steady", action="store_true")
    parser.add_argument("--init", type=Path, help="weights to go on from")
    parser.add_argument("--envs", type=int, default=8192)
    parser.add_argument("--horizon", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minibatches", type=int, default=16)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--entropy", type=float, default=0.002)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--push", type=float, default=0.02)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> None:
    a, began = read_options(), time.time()
    a.out.mkdir(parents=True, exist_ok=True)
    task = Task(load_model(a.integrator, a.walls), a.push, a.steady)
    iteration = make_iteration(task, a)
    k1, k2, k3, k4, key = jax.random.split(jax.random.PRNGKey(a.seed), 5)
    if a.init:
        params, stats = restore(a.init)
    else:
        sizes = [INPUTS, a.hidden, a.hidden]
        params = {
            "policy": new_network(k1, [*sizes, OUTPUTS], 0.01),
            "critic": new_network(k2, [*sizes, 1], 1.0),
            "log_std": jp.full(OUTPUTS, -0.5, jp.float32),
        }
        stats = {"mean": jp.zeros(INPUTS), "var": jp.ones(INPUTS), "count": jp.array(1e4)}
    zeros = jax.tree.map(jp.zeros_like, params)
    opt = {"m": zeros, "v": jax.tree.map(jp.copy, zeros), "t": jp.array(0.0)}
    rate = jp.array(a.rate)
    state = jax.jit(jax.vmap(task.reset))(jax.random.split(k3, a.envs))
    state["steps"] = jax.random.randint(k4, (a.envs,), 0, HORIZON)  # not all end at once
    curve: list[list[float]] = []
    done = 0
    print(f"jax {jax.__version__} on {jax.devices()}: {a.envs} ants × {a.horizon}", flush=True)
    while time.time() - began < a.seconds and done < a.iterations:
        params, opt, rate, state, stats, key, log = iteration(params, opt, rate, state, stats, key)
        done += 1
        if done == 1 or done % 10 == 0:
            curve.append(
                [time.time() - began, done * a.envs * a.horizon, *np.asarray(log).tolist()]
            )
            last = dict(zip(LOGGED, curve[-1][2:], strict=True))
            print(
                f"{curve[-1][0]:5.0f} s {curve[-1][1] / 1e6:7.2f} M | "
                f"progress {last['progress']:6.3f} m/s, falls {1000 * last['fallen']:5.2f} ‰, "
                f"reward {last['reward']:.3f}, kl {last['kl']:.4f}, std {last['std']:.3f}",
                flush=True,
            )
        if done % 100 == 0:
            save(a.out / "ant.npz", params, stats)
    save(a.out / "ant.npz", params, stats)
    heads = ",".join(["seconds", "steps", *LOGGED])
    np.savetxt(a.out / "curve.csv", np.array(curve), delimiter=",", fmt="%.6g", header=heads)


if __name__ == "__main__":
    main()
