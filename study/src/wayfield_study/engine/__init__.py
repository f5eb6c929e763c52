"""The study engine: tasks, a runner that resumes, a store. It knows no experiment."""

from .config import load_config
from .freshness import what_changed
from .proofs import has_proofs, proof_digest, recheck
from .records import NO_ROWS, Records, Tables, as_records
from .runner import Run, look_up, run, what_is_there
from .statistics import Measure, mean_of, sd_of
from .store import Condition, Store, connect
from .tasks import Cell, Experiment, Profile, Row, Study, Task, by_experiment

__all__ = [
    "NO_ROWS", "Cell", "Condition", "Experiment", "Measure", "Profile", "Records", "Row", "Run",
    "Store", "Study", "Tables", "Task", "as_records", "by_experiment", "connect", "has_proofs",
    "load_config", "look_up", "mean_of", "proof_digest", "recheck", "run", "sd_of",
    "what_changed", "what_is_there",
]  # fmt: skip
