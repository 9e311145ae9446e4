"""A file with a run of any size, made of the rows of a small one: a million trials take a minute, not half an hour.

Called as a script it takes SOURCE, whose latest run is multiplied, TARGET, and how often cases and epochs are repeated.
"""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from pathlib import Path

from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.running.store import RunStore

_NUMBER = "(:epoch * :cases + :first + trial / :arms) * :arms + arm"
_CASE = "case_id || :suffix"
_CHANGED = {"trial": _NUMBER, "epoch": ":epoch", "case_id": _CASE, "cluster": "cluster || :suffix"}


def multiply_run(source: Path, target: Path, copies: int, epochs: int = 1) -> str:
    """Write the latest run of a file, with each case as many times, under other ids, and each asked as often.

    Args:
        source: A file of runs; its latest run is of one epoch and finished.
        target: A file of runs; made if need be.
        copies: Of each case.
        epochs: Of each case.

    Returns:
        The id of the run.
    """
    with RunStore(source, must_exist=True) as opened:
        row = opened.get("latest")
        tokenizers = [by for (by,) in opened.connection.execute("SELECT tokenizer FROM arms ORDER BY arm")]
    plan = replace(row.plan, cases=row.plan.cases * copies, epochs=epochs)
    trial = [_CHANGED.get(field.name, field.name) for field in fields(TrialRecord)]
    with RunStore(target) as store:
        run = store.create(plan, tokenizers)
        connection = store.connection
        connection.execute("ATTACH ? AS small", (str(source),))
        columns = [name for _, name, *_ in connection.execute("PRAGMA small.table_info(requests)")]
        # Of a row of requests, the arm is what its trial's number says.
        request = [":run", _NUMBER.replace("+ arm", "+ trial % :arms"), *columns[2:]]
        connection.execute("INSERT OR IGNORE INTO offers SELECT * FROM small.offers")
        values = {"run": run, "old": row.run, "cases": plan.cases, "arms": len(plan.arms)}
        for epoch in range(epochs):
            for copy in range(copies):
                values |= {"epoch": epoch, "first": copy * row.plan.cases, "suffix": f"~{copy}" if copy else ""}
                connection.execute("BEGIN")
                for table, chosen in (("requests", request), ("trials", [":run", *trial])):
                    connection.execute(
                        f"INSERT INTO {table} SELECT {', '.join(chosen)} FROM small.{table} WHERE run = :old", values
                    )
                if not epoch:
                    connection.execute(
                        f"INSERT INTO cases SELECT :run, {_CASE}, content FROM small.cases WHERE run = :old", values
                    )
                connection.execute("COMMIT")
        connection.execute("DETACH small")
        store.set_status(run, "finished")
    return run


if __name__ == "__main__":
    print(multiply_run(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
