"""The sign of Σ_up s^q − Σ_down s^q for rational slopes s > 0 and a rational q ≥ 1, proved.

Equal slopes on the two sides cancel exactly. What is left is divided by the steepest slope, so that
every ratio r is at most 1, and r^q is enclosed between two whole multiples of 2^−bits:

- q is a double less 1, so q = k + j / 2^t: r^q is a product of squares of squares of r and of
  square roots of square roots of r;
- if t is large, the roots of roots are taken only for a table. Write r = 2^k a_1 a_2 … a_n (1 + δ)
  with a_i = 1 + d_i / 2^(8 i), where d_i is a digit of 8 bits, and δ < 2^(−8 n). The powers of 2^k
  and of the a_i are in the table. By Bernoulli's inequality
  1 + q δ ≤ (1 + δ)^q ≤ 1 / (1 − q δ / (1 + δ)), where q δ < 1 (for the right side apply it to
  1 − δ / (1 + δ) = 1 / (1 + δ));
- a number is held as lo · 2^e ≤ number ≤ hi · 2^e with whole lo and hi of about `bits` digits;
  products are cut off downwards in lo and upwards in hi, roots likewise (`math.isqrt`).

If the enclosures of the two sums overlap, the digits are doubled, up to `MOST_BITS`: far more than
a field in double-double can ask for. Beyond that the sign is computed exactly if q is whole and the
powers are not too long, and given up otherwise: nothing is proved then. So no file takes longer
than a fixed time per arc.

For q = 1 the quotients are enclosed in the same way, and where that does not do they are added up
exactly, two and two, so that only the last few additions are of long numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from math import isqrt
from operator import itemgetter

FEWEST_BITS, MOST_BITS = 128, 256
MOST_ROOTS = 12
"""A power takes no more square roots; beyond that, a table of powers is used."""
DIGIT = 8
"""Bits of a digit of the table."""
LONGEST = 1 << 20
"""A sum of quotients is added up exactly if its denominators have no more bits in all."""
LONGEST_POWERS = 1 << 16
"""A sum of powers is computed exactly if these have no more bits in all."""

Enclosure = tuple[int, int, int]
"""(lo, hi, e): a number between lo · 2^e and hi · 2^e."""


def sign_of_balance(slopes: Sequence[Fraction], q: Fraction) -> int | None:
    """Return the sign of Σ sign(s) |s|^q: 1, 0 or -1, or None if it is undecided."""
    # Equal slopes are found by sorting: a file could choose numbers that collide in a hash table.
    ups: list[tuple[Fraction, int]] = []
    downs: list[tuple[Fraction, int]] = []
    for size, group in groupby(sorted(slopes, key=abs), key=abs):
        signs = [_sign(s.numerator) for s in group]
        if excess := sum(signs):
            (ups if excess > 0 else downs).append((size, abs(excess)))
    if not (ups and downs):
        return int(bool(ups)) - int(bool(downs))
    steepest = max(ups[-1][0], downs[-1][0])
    bits = FEWEST_BITS
    while bits <= MOST_BITS:
        least_up, most_up = _sum_of_powers(ups, steepest, q, bits)
        least_down, most_down = _sum_of_powers(downs, steepest, q, bits)
        if least_up > most_down:
            return 1
        if most_up < least_down:
            return -1
        bits *= 2
    # enclosures do not do: exactly, if that is not too long
    bits = sum(max(s.numerator, s.denominator).bit_length() for s, _ in (*ups, *downs))
    if q.denominator != 1 or q * bits > LONGEST_POWERS:
        return None
    whole = q.numerator
    terms = [(count * s.numerator**whole, s.denominator**whole) for s, count in ups]
    terms += [(-count * s.numerator**whole, s.denominator**whole) for s, count in downs]
    return _sign(_total(terms)[0])


def sign_of_sum(terms: Sequence[tuple[int, int]]) -> int | None:
    """Return the sign of Σ a / b over pairs of whole numbers, b > 0; None if it is undecided."""
    # add up terms of equal b, found by sorting: see above
    left = [
        (total, b)
        for b, group in groupby(sorted(terms, key=itemgetter(1)), key=itemgetter(1))
        if (total := sum(a for a, _ in group))
    ]
    if len(left) > 1:
        # each quotient is cut off downwards, by less than 1
        shift = max(b for _, b in left).bit_length() + FEWEST_BITS
        least = sum((a << shift) // b for a, b in left)
        if least > 0 or least <= -len(left):
            return _sign(least)
        if sum(b.bit_length() for _, b in left) > LONGEST:
            return None
    return _sign(_total(left)[0])


def _total(terms: list[tuple[int, int]]) -> tuple[int, int]:
    """Return Σ a / b as numerator and positive denominator; the two halves are summed first."""
    if len(terms) <= 1:
        return terms[0] if terms else (0, 1)
    (a, b), (c, d) = _total(terms[::2]), _total(terms[1::2])
    return a * d + b * c, b * d


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _sum_of_powers(
    slopes: Sequence[tuple[Fraction, int]], unit: Fraction, q: Fraction, bits: int
) -> tuple[int, int]:
    """Return whole numbers around 2^bits · Σ (s / unit)^q; no s exceeds the unit."""
    least = most = 0
    table = _table(q, bits) if q.denominator >> MOST_ROOTS else None
    for slope, count in slopes:
        ratio = slope / unit
        lo, hi, e = power(ratio, q, bits) if table is None else table.power(ratio)
        # to whole multiples of 2^-bits, outward
        shift = e + bits
        least += count * (lo << shift if shift >= 0 else lo >> -shift)
        most += count * (hi << shift if shift >= 0 else -(-hi >> -shift))
    return least, most


def power(ratio: Fraction, q: Fraction, bits: int) -> Enclosure:
    """Enclose ratio^q for a ratio in (0, 1] and q ≥ 0 with a power of two as denominator."""
    base = _quotient(ratio, bits)
    result, whole = (1, 1, 0), int(q)
    # the whole part: squares of squares
    square = base
    while whole:
        if whole & 1:
            result = _product(result, square, bits)
        whole >>= 1
        if whole:
            square = _product(square, square, bits)
    # and the fraction: roots of roots, one for every binary digit
    rest, root = q - int(q), base
    while rest:
        root, rest = _root(root, bits), 2 * rest
        if rest >= 1:
            result, rest = _product(result, root, bits), rest - 1
    return result


class PowerTable:
    """Powers of one exponent q ≥ 1, by a table of the powers of digits that is filled as needed."""

    def __init__(self, q: Fraction, bits: int) -> None:
        self.q, self.bits = q, bits
        self.scales: dict[int, Enclosure] = {}
        # as many places as make the square of q δ less than 2^-bits
        places = bits // 2 + int(q).bit_length()
        self.digits: list[dict[int, Enclosure]] = [{} for _ in range(-(-places // DIGIT))]

    def power(self, ratio: Fraction) -> Enclosure:
        """Enclose ratio^q for a positive ratio."""
        q, bits = self.q, self.bits
        lo, hi, e = _quotient(ratio, bits)
        # ratio = 2^k m, where m lies between lo and lo + width, in units of 2^-one
        one, width = lo.bit_length() - 1, hi - lo
        result = self.scales.get(one + e)
        if result is None:
            result = self.scales[one + e] = power(Fraction(2) ** (one + e), q, bits)
        places = 0
        for known in self.digits:
            places += DIGIT
            digit = (lo >> one - places) - (1 << places)
            if digit:
                factor = known.get(digit)
                if factor is None:
                    exact = Fraction((1 << places) + digit, 1 << places)
                    factor = known[digit] = power(exact, q, bits)
                result = _product(result, factor, bits)
                lo, width = (lo << places) // ((1 << places) + digit), width + 1
        # what is left of m is 1 + δ: Bernoulli's inequality
        unit, hi, top, bottom = 1 << one, lo + width, q.numerator, q.denominator
        least = unit + top * (lo - unit) // bottom
        most = -((-hi * bottom << one) // (hi * bottom - top * (hi - unit)))
        return _product(result, (least, most, -one), bits)


_table = lru_cache(maxsize=4)(PowerTable)


def _quotient(ratio: Fraction, bits: int) -> Enclosure:
    """Enclose a positive rational by `bits` digits or more."""
    shift = max(0, bits + ratio.denominator.bit_length() - ratio.numerator.bit_length())
    lo, left = divmod(ratio.numerator << shift, ratio.denominator)
    return lo, lo + (left > 0), -shift


def _product(a: Enclosure, b: Enclosure, bits: int) -> Enclosure:
    lo, hi, e = a[0] * b[0], a[1] * b[1], a[2] + b[2]
    # by the longer of the two: for a huge q the bounds part, and hi would grow without end
    cut = max(0, hi.bit_length() - bits)
    return lo >> cut, -(-hi >> cut), e + cut


def _root(a: Enclosure, bits: int) -> Enclosure:
    lo, hi, e = a
    shift = max(0, 2 * bits - hi.bit_length())
    shift += (e - shift) % 2  # the exponent is halved, so it has to be even
    return isqrt(lo << shift), isqrt((hi << shift) - 1) + 1, (e - shift) // 2
