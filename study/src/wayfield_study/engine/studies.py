"""A study: a named set of experiments, and profiles that say how much of it to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wayfield._arrays import as_whole
from wayfield.errors import InputError

from .tasks import Experiment, Task


@dataclass(frozen=True)
class Profile:
    """How much of a study to run.

    Attributes
    ----------
    name, about : str
        What to call it, and what one gets.
    goals : int or None
        Goals per cell; None where cells have no choice of goals.
    most_goals : int
        The largest number of goals that may be asked for.
    """

    name: str
    about: str
    goals: int | None = None
    most_goals: int = 512

    def with_goals(self, goals: int | None) -> Profile:
        """Return the profile with another number of goals per cell; the same if none is given."""
        if goals is None:
            return self
        if self.goals is None:
            raise InputError("this study has no choice of goals")
        return replace(self, goals=as_whole(goals, "goals", least=1, most=self.most_goals))

    def at_most(self, **limits: int) -> int:
        """Goals per cell, but no more than the limit that goes by this profile's name.

        Examples
        --------
        >>> [Profile(name, "", 16).at_most(quick=4) for name in ("quick", "paper")]
        [4, 16]
        """
        assert self.goals is not None
        return min(self.goals, limits.get(self.name, self.goals))


@dataclass(frozen=True, eq=False)
class Study:
    """Experiments that belong together.

    Attributes
    ----------
    name, title : str
        What it is called on the command line, and for people.
    experiments : tuple of Experiment
        In the order of the report.
    profiles : tuple of Profile
        The first is the one that runs if none is asked for.
    cover : function of the tables, optional
        The report's beginning and end: `wayfield_study.report.Cover`, read there.
    """

    name: str
    title: str
    experiments: tuple[Experiment[Any], ...]
    profiles: tuple[Profile, ...]
    cover: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        refuse_namesakes(self.experiments)

    def profile(self, name: str | None = None, goals: int | None = None) -> Profile:
        """Return a profile by its name, the first if none is given."""
        known = {profile.name: profile for profile in self.profiles}
        if name is not None and name not in known:
            raise InputError(
                f"the study {self.name} has no profile {name!r}; it has {', '.join(known)}"
            )
        chosen = self.profiles[0] if name is None else known[name]
        return chosen.with_goals(goals)

    def tasks(self, profile: Profile | None = None) -> list[Task]:
        """List the tasks of a profile, experiment by experiment, of all that lack nothing."""
        chosen = self.profile() if profile is None else profile
        return [
            Task(experiment, cell)
            for experiment in self.experiments
            if experiment.lacks() is None
            for cell in experiment.cells(chosen)
        ]

    def left_out(self, profile: Profile | None = None) -> dict[str, str]:
        """Say what those experiments of a profile lack that are left out, by their names."""
        chosen = self.profile() if profile is None else profile
        lacking = {each.name: each.lacks() for each in self.experiments if each.cells(chosen)}
        return {name: lack for name, lack in lacking.items() if lack is not None}

    def command(self, experiment: Experiment[Any]) -> str:
        """Say what to type to run an experiment: the first profile that has cells of it.

        Examples
        --------
        >>> from wayfield_study.experiments import STUDIES
        >>> study = STUDIES["pointmaze"]
        >>> [study.command(study.experiments[k]) for k in (0, -1)]
        ['wayfield study pointmaze', 'wayfield study pointmaze --official']
        """
        command = f"wayfield study {self.name}"
        names = [each.name for each in self.profiles if experiment.cells(each)]
        if not names or names[0] == self.profiles[0].name:
            return command
        flag = "--official" if names[0] == "official" else f"--profile {names[0]}"
        return f"{command} {flag}"


def refuse_namesakes(experiments: Iterable[Experiment[Any]]) -> None:
    """Refuse two experiments of one name, which would share a folder of results."""
    known: dict[str, Experiment[Any]] = {}
    for experiment in experiments:
        other = known.setdefault(experiment.name.casefold(), experiment)
        if other.run is not experiment.run:
            raise InputError(f"two experiments are called {experiment.name!r}")


def find_experiment(name: str, experiments: Sequence[Experiment[Any]]) -> Experiment[Any]:
    """Return an experiment by its name."""
    known = {experiment.name: experiment for experiment in experiments}
    if name not in known:
        raise InputError(f"unknown experiment {name!r}; known are {', '.join(known)}")
    return known[name]
