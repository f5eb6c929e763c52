"""Variances by the marginal likelihood: which of several covariances explain the data.

    y ~ N(0, Σ θ_i K_i + σ² D + F),      log (θ, σ²) ~ N(centre, P⁻¹)

The peak of log p(y | θ) + log p(θ) is found on logarithms by L-BFGS-B, with the gradient

    ∂/∂log θ_i = ½ θ_i (wᵀ K_i w - tr(C⁻¹ K_i)),      C the covariance, w = C⁻¹ y.

The evidence of a model is its Laplace approximation there, with the Hessian H of the negative
logarithm: log p(y) ≈ log p(y | θ) + log p(θ) + ½ log |2π H⁻¹|. Each further variance thus costs
what it should: nothing where the data do not speak of it.

**Prior.** The variances of slowness share one unknown scale: log θ_i = t + r_i with t ~ N(·, A²)
and r_i ~ N(0, B²). Where nothing is congested, all of them are small together, and the data need
to say so once and not for each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.optimize import minimize

from ..typing import FloatArray

FLOOR = 1e-7
"""Added to the diagonal, in units of squared relative time."""
CENTRE, NOISE = 0.02, 0.0025
"""Where the priors of variances and of the noise are centred: 14 % and 5 %."""
SHARED, APART, ALONE = 2.0, 1.5, 2.0
"""Spreads A and B of the variances of slowness, and the spread of each other variance."""
LOWEST, HIGHEST = -16.0, 4.0
"""Bounds of the logarithms."""
SLOWNESS = ("common", "smooth", "load", "own", "wait", "class")
"""Terms that share one scale."""


@dataclass(frozen=True, eq=False)
class Peak:
    """The variances that explain the data best, and how sure they are.

    Attributes
    ----------
    theta : (q + 1,) float array
        Variances of the q terms, then the noise σ².
    height : float
        Log posterior density at the peak.
    evidence : float
        Log evidence of the model.
    hessian : (q + 1, q + 1) float array
        Of the negative log posterior, in logarithms of the variances.
    """

    theta: FloatArray
    height: float
    evidence: float
    hessian: FloatArray


class Evidence:
    """The log posterior of the variances of some terms, given data."""

    def __init__(
        self,
        terms: tuple[str, ...],
        kernels: FloatArray,
        y: FloatArray,
        fixed: FloatArray | float = 0.0,
        noise: FloatArray | float = 1.0,
    ) -> None:
        self.terms, self.kernels, self.y, self.fixed = terms, kernels, y, fixed
        self.noise = np.broadcast_to(noise, y.shape)
        self.centre = np.log(np.append(np.full(len(terms), CENTRE), NOISE))
        spread = np.full(len(terms) + 1, ALONE**2)
        shares = np.append([term in SLOWNESS for term in terms], False).astype(np.float64)
        covariance = np.diag(np.where(shares > 0, APART**2, spread))
        covariance += SHARED**2 * np.outer(shares, shares)
        self.precision = np.linalg.inv(covariance)

    def covariance(self, theta: FloatArray) -> FloatArray:
        """Return C for some variances."""
        k = self.y.size
        flat = self.kernels.reshape(len(self.terms), k * k)
        C = (theta[:-1] @ flat).reshape(k, k) + self.fixed
        C[np.diag_indices(k)] += theta[-1] * self.noise + FLOOR
        return C

    def loss(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative log posterior of log variances, and its gradient."""
        theta, k = np.exp(z), self.y.size
        factor, bad = lapack.dpotrf(self.covariance(theta), lower=1)
        if bad:
            return 1e10, np.zeros(z.size)
        inverse, _ = lapack.dpotri(factor, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        w = inverse @ self.y
        off = z - self.centre
        pull = self.precision @ off
        value = 0.5 * (self.y @ w + off @ pull) + np.log(np.diag(factor)).sum()
        inverse -= np.outer(w, w)
        traces = self.kernels.reshape(len(self.terms), k * k) @ inverse.ravel()
        slope = 0.5 * theta * np.append(traces, self.noise @ np.diag(inverse)) + pull
        return float(value), slope

    def peak(self, start: FloatArray | None = None, curved: bool = True, most: int = 60) -> Peak:
        """Return the most likely variances; with `curved`, the Hessian and the evidence too."""
        low = np.append(np.full(len(self.terms), LOWEST), -14.0)
        high = np.append(np.full(len(self.terms), HIGHEST), 1.0)
        z = self.centre if start is None else np.log(start)
        best = minimize(
            self.loss, np.clip(z, low + 0.1, high - 0.1), jac=True, method="L-BFGS-B",
            bounds=list(zip(low, high, strict=True)), options={"maxiter": most},
        )  # fmt: skip
        z, H = best.x, self.precision
        if curved:
            steps = 0.05 * np.eye(z.size)
            H = np.array([(self.loss(z + s)[1] - self.loss(z - s)[1]) / 0.1 for s in steps])
            H = (H + H.T) / 2
            value, vector = np.linalg.eigh(H)  # flat directions are as wide as the prior, at most
            H = (vector * np.maximum(value, 0.1)) @ vector.T
        height = -float(best.fun)
        log_det = np.linalg.slogdet(self.precision)[1] - np.linalg.slogdet(H)[1]
        return Peak(np.exp(z), height, height + 0.5 * float(log_det), H)

    def draws(self, peak: Peak, count: int) -> tuple[FloatArray, FloatArray]:
        """Return variances drawn from the Laplace approximation, and their importance weights.

        An interval must know that its variances are guesses.
        """
        z = np.log(peak.theta)
        half = np.linalg.cholesky(np.linalg.inv(peak.hessian))
        steps = np.random.default_rng(0).standard_normal((count // 2, z.size)) @ half.T
        tried = np.clip(z + np.concatenate([steps, -steps]), LOWEST, HIGHEST)
        drop = np.array([self.loss(each)[0] for each in tried]) + peak.height
        quadratic = 0.5 * np.einsum("ij,jk,ik->i", tried - z, peak.hessian, tried - z)
        weights = np.exp(np.clip(quadratic - drop, -20.0, 2.0))
        return np.exp(tried), weights / weights.sum()

    def solver(self, theta: FloatArray) -> Solver:
        """Return the factored covariance for some variances."""
        return Solver(self.covariance(theta), self.y)


class Solver:
    """A factored covariance C, and w = C⁻¹ y."""

    def __init__(self, covariance: FloatArray, y: FloatArray) -> None:
        self._factor = cho_factor(covariance, lower=True, overwrite_a=True)
        self.w: FloatArray = self.solve(y)

    def solve(self, right: FloatArray) -> FloatArray:
        """Return C⁻¹ times a vector or a matrix."""
        return np.asarray(cho_solve(self._factor, right))
