"""Tables that users point at: what is no CSV is refused with its line, wherever it is read."""

from __future__ import annotations

import pytest

from designer.errors import ExchangeError
from designer.families.serving.traces import parse_trace
from designer.interchange.importers.netbox_cables import _from_csv
from designer.workload.job_lists import parse_jobs

LONG = "1" * 131_073


@pytest.mark.parametrize("line", [1, 2])
def test_a_cell_too_long_for_csv_is_refused_with_its_line(line: int) -> None:
    def table(head: str, row: str) -> str:
        return f"{head},{LONG}\n{row}\n" if line == 1 else f"{head}\n{row}{LONG}\n"

    with pytest.raises(ExchangeError, match=f"line {line}: not CSV"):
        parse_trace(table("TIMESTAMP,ContextTokens,GeneratedTokens", "2023-11-16 18:15:46,1,"))
    with pytest.raises(ExchangeError, match=f"line {line}: not CSV"):
        parse_jobs(table("job_id,gpu_num,submit_time,duration", "x,1,"))
    with pytest.raises(ExchangeError, match=f"line {line}: not CSV"):
        _from_csv(table("side_a_device,side_a_type,side_a_name", "x,dcim.interface,"), "cables.csv")
