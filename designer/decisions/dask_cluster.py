"""Runs on a Dask cluster that somebody has started: ``dask scheduler`` there, its address here.

Workers need this program in the same version. A run whose worker dies is done again by another one.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, Final

from designer.decisions.answers import Row, Task, answer
from designer.decisions.runs import Run
from designer.errors import AnalysisError, Cancelled

#: how long a scheduler is waited for [s]
_PATIENCE: Final = 10
#: how often a stop is looked for [s]
_LOOK: Final = 0.2
#: so often a run is tried again where a worker dies or an error passes
_RETRIES: Final = 5
_PLACE: Final = "--scheduler"


def on_cluster(task: Task, runs: Sequence[Run], cancelled: Callable[[], bool], address: str) -> Iterator[Row]:
    """On the workers of a scheduler.

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    AnalysisError
        If ``distributed`` is missing, nobody answers at the address, or workers cannot do it.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise AnalysisError(
            "a cluster needs Dask", place=_PLACE, remedy="install designer with the extra [cluster]"
        ) from None
    _demand_scheduler(distributed, address)
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise _no_scheduler(address, str(error)) from None
    try:
        if not client.scheduler_info()["workers"]:
            remedy = f"start some: dask worker {address}"
            raise AnalysisError("the scheduler has no workers", place=_PLACE, remedy=remedy)
        yield from _run_on(client, distributed, task, runs, cancelled)
    finally:
        client.close()


def _demand_scheduler(distributed: Any, address: str) -> None:
    """Refuse an address where no scheduler answers; a client would wait for it twice as long, or for ever.

    Raises
    ------
    AnalysisError
        If something else answers there, or nothing in time.
    """

    async def identity() -> dict[str, Any]:
        security: Any = distributed.Security()
        arguments = security.get_connection_args("client")
        rpc: Any = import_module("distributed.core").rpc
        async with rpc(address, timeout=_PATIENCE, connection_args=arguments) as other:
            return await other.identity()

    async def in_time() -> dict[str, Any]:
        return await asyncio.wait_for(identity(), _PATIENCE)

    try:
        found = asyncio.run(in_time())
    except TimeoutError:
        raise _no_scheduler(address, f"nothing in {_PATIENCE} s") from None
    except MemoryError:
        # the first bytes of another protocol, read as a length
        raise _no_scheduler(address, "something else listens there") from None
    except Exception as error:  # addresses, protocols and whatever else listens there fail in many ways
        raise _no_scheduler(address, str(error) or type(error).__name__) from None
    if found.get("type") != "Scheduler":
        raise _no_scheduler(address, f"this is a {str(found.get('type'))[:40]}")


def _no_scheduler(address: str, why: str) -> AnalysisError:
    text = f"no scheduler answers at {address}: {why[:120]}"
    return AnalysisError(text, place=_PLACE, remedy="start one with: dask scheduler")


def _run_on(
    client: Any, distributed: Any, task: Task, runs: Sequence[Run], cancelled: Callable[[], bool]
) -> Iterator[Row]:
    # to all workers at once: what one alone holds is lost with it
    sent = client.scatter(pickle.dumps(task), broadcast=True)
    waiting = {client.submit(one, sent, run, retries=_RETRIES, pure=False) for run in runs}
    try:
        while waiting:
            try:
                with client.as_current():
                    done, waiting = distributed.wait(waiting, _LOOK, return_when="FIRST_COMPLETED")
            except TimeoutError:
                done = set[Any]()
            for future in done:
                try:
                    row = future.result()
                except Exception as error:  # whatever another machine raises
                    remedy = "see that every worker has this program in this version, and memory enough"
                    text = f"a worker cannot do it: {type(error).__name__}: {str(error)[:200]}"
                    raise AnalysisError(text, place=_PLACE, remedy=remedy) from None
                yield row
            if cancelled():
                raise Cancelled("stopped")
    finally:
        if waiting:
            client.cancel(list(waiting))


def one(task: bytes, run: Run) -> Row:
    """A run, on a worker."""
    found: Task = pickle.loads(task)
    return answer(found, run)
