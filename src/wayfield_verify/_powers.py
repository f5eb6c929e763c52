"""The sign of Σ_up s^q − Σ_down s^q for rational slopes s > 0 and a rational q ≥ 1, proved.

Equal slopes on the two sides cancel exactly. What is left is divided by the steepest slope, so that
every ratio r is at most 1, and r^q is enclosed between two whole multiples of 2^−bits:

- q is a double less 1, so q = k + j / 2^t: r^q is a product of squares of squares of r and of
  square roots of square roots of r;
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
from itertools import groupby
from math import isqrt
from operator import itemgetter

FEWEST_BITS, MOST_BITS = 128, 256
LONGEST = 1 << 20
"""A sum is computed exactly if its powers, and its denominators, have no more bits in all."""

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
    if q.denominator != 1 or q * bits > LONGEST:
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
    for slope, count in slopes:
        lo, hi, e = power(slope / unit, q, bits)
        # to whole multiples of 2^-bits, outward
        shift = e + bits
        least += count * (lo << shift if shift >= 0 else lo >> -shift)
        most += count * (hi << shift if shift >= 0 else -(-hi >> -shift))
    return least, most


def power(ratio: Fraction, q: Fraction, bits: int) -> Enclosure:
    """Enclose ratio^q for a ratio in (0, 1] and q ≥ 0 with a power of two as denominator."""
    one: Enclosure = (1, 1, 0)
    shift = max(0, bits + ratio.denominator.bit_length() - ratio.numerator.bit_length())
    lo, left = divmod(ratio.numerator << shift, ratio.denominator)
    base: Enclosure = (lo, lo + (left > 0), -shift)
    result, whole = one, int(q)
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
