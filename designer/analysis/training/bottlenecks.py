"""What binds a training step, and what would next."""

from __future__ import annotations

from designer.analysis.account import account
from designer.analysis.account.bottlenecks import sort_of
from designer.analysis.results import Bottleneck
from designer.analysis.training.step import RoutedStep
from designer.analysis.training.step_time import step_time


def bottlenecks(routed_step: RoutedStep) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
    """What binds the step, and what would next; each with the gain of doubling it."""
    step, network = step_time(routed_step), routed_step.plan.ranks.network
    return account(step.time, {}).bottlenecks(step.bottleneck, lambda resource: sort_of(network, resource))
