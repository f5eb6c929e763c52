"""The paper: its figures as data, and how ours compare with them.

S. Zhang, *Planner-Admissible Graph-PDE Value Extensions for Sparse Goal-Conditioned Planning*.

`figures` reads what the paper prints, `grid` knows its cells, `measures` takes our figures on them,
`rules` puts figure beside figure and judges, and `verdicts` makes them parts of a report.
"""
