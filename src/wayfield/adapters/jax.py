"""Extensions inside JAX: a function with its own derivative, for learning labels or lengths.

The solver runs on the CPU, in double precision, as a callback (`jax.pure_callback`). The reverse
derivative is `Extension.pullback`, given to JAX by `jax.custom_vjp`; forward mode and second
derivatives are not there. A Laplacian that was prepared for solving is used again, for other values
at the same vertices and for the transpose in the derivative. At a kink the gradient is one-sided,
see `Extension.pullback`: an element of the generalised gradient, which is what subgradient methods
need.

JAX computes in single precision by default. For doubles: ``jax.config.update("jax_enable_x64",
True)``. The solver is exact for the numbers that it is given.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import as_vertices, need
from ..errors import InputError
from ..fields import Extension, Method
from ..fields import extend as solve
from ..fields.linear import Kept, keeping
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels
from ..numerics.csr import reverse_slots

need("jax", "jax")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

__all__ = ["extend"]

KEPT = 8
"""Number of fields kept between a forward and a backward pass."""


def extend(
    graph: Graph, vertices: ArrayLike, values: Any, method: Method, *, lengths: Any = None
) -> Any:
    """Extend labels over a graph, as a differentiable function of their values and of the lengths.

    Works under `jax.jit`, `jax.grad` and `jax.vmap`. Bad input raises `InputError` when the
    function is traced; values that are not finite raise it, inside an error of JAX's, when it runs.

    Parameters
    ----------
    graph : Graph
        The graph to extend on.
    vertices : (k,) integer array
        The labelled vertices, each once, in any order; fixed, as the graph is.
    values : (k,) JAX array
        Their values.
    method : Method
        `AMLE()`, `Harmonic()` or `PLaplacian(p)`. ``bracket=False`` saves time.
    lengths : (m,) JAX array, optional
        Lengths in the order of ``graph.lengths``, in their place. The length of an undirected edge
        is the mean of its two arcs'.

    Returns
    -------
    (n,) JAX array
        The field, of the type of `values`. NaN where no label is connected, +inf where none can be
        reached.

    Examples
    --------
    >>> import jax
    >>> import wayfield as wf
    >>> from wayfield.adapters.jax import extend
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> field = lambda values: extend(path, [0, 4], values, wf.AMLE())
    >>> field(jax.numpy.array([0.0, 4.0]))
    Array([0., 1., 2., 3., 4.], dtype=float32)
    >>> jax.grad(lambda values: field(values)[1])(jax.numpy.array([0.0, 4.0]))
    Array([0.75, 0.25], dtype=float32)
    """
    n, m = check_graph(graph).num_vertices, graph.num_arcs
    at = as_vertices(vertices, "vertices", n)
    order = np.argsort(at)
    if np.unique(at).size < at.size:
        raise InputError("vertices must be distinct, got a vertex twice")
    values = jnp.asarray(values)
    if not jnp.issubdtype(values.dtype, jnp.floating):
        values = values.astype(float)
    # without lengths the graph's own are used, not rounded to the type of the values
    lengths = jnp.zeros(0, values.dtype) if lengths is None else jnp.asarray(lengths, values.dtype)
    if values.shape != (at.size,):
        raise InputError(f"values must be of shape ({at.size},), got {values.shape}")
    if lengths.shape not in ((m,), (0,)):
        raise InputError(f"lengths must be of shape ({m},), got {lengths.shape}")
    opposite = slice(None) if graph.directed else reverse_slots(graph.arcs)

    prepared: list[Kept] = []  # Laplacians, for the next values and for derivatives

    @lru_cache(maxsize=KEPT)
    def field(labelled: bytes, measured: bytes) -> Extension:
        labels, long, world = Labels(at, np.frombuffer(labelled)), np.frombuffer(measured), graph
        if long.size:
            mean = 0.5 * (long + long[opposite])
            world = Graph(graph.indptr, graph.indices, mean, graph.directed)
        return solve(world, labels, method, unreachable="nan")

    def solved(values: Any, lengths: Any) -> Extension:
        return field(*(np.asarray(each, np.float64).tobytes() for each in (values, lengths)))

    def forward(values: Any, lengths: Any) -> Any:
        with keeping(prepared):
            return np.asarray(solved(values, lengths).values, values.dtype)

    def backward(values: Any, lengths: Any, cotangent: Any) -> tuple[Any, Any]:
        with keeping(prepared):
            gradient = solved(values, lengths).pullback(np.asarray(cotangent, np.float64))
        by_label = np.empty(at.size)
        by_label[order] = gradient.labels
        by_length = gradient.lengths[: lengths.size]
        return by_label.astype(values.dtype), by_length.astype(values.dtype)

    def plain(values: Any, lengths: Any) -> Any:
        shape = jax.ShapeDtypeStruct((n,), values.dtype)
        return jax.pure_callback(forward, shape, values, lengths, vmap_method="sequential")

    def run(values: Any, lengths: Any) -> tuple[Any, tuple[Any, Any]]:
        return plain(values, lengths), (values, lengths)

    def pull(kept: tuple[Any, Any], cotangent: Any) -> Any:
        shapes = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in kept]
        given = (*kept, cotangent)
        return jax.pure_callback(backward, tuple(shapes), *given, vmap_method="sequential")

    extended = jax.custom_vjp(plain)
    extended.defvjp(run, pull)
    return extended(values, lengths)
