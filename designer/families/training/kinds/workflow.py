"""Machine learning workflow: data analysed, validated and prepared, a model trained, evaluated, deployed, and again."""

from collections.abc import Mapping
from typing import Any

from designer.errors import AnalysisError
from designer.families.training.tasks import ProcessData, TrainSteps
from designer.workload.job_settings import LAYOUT, MODEL, job
from designer.workload.kind import Setting, WorkloadKind
from designer.workload.program import Arrivals, Measure, Move, Program, Step

#: of the arithmetic of a training step, what its forward pass is: 2 of 6 operations for each weight and token
_FORWARD = 1 / 3


def program(settings: Mapping[str, Any]) -> Program:
    """Each retraining passes all stages; one may analyse new data while the one before still trains."""
    s = settings
    asked = job(s)
    every = s["retrain_every"]
    if every <= 0:
        raise AnalysisError("retrained without pause", place="retrain_every", remedy="give a time above 0 s")

    def stage(rate: str, size: float) -> ProcessData:
        return ProcessData(s["source"], s["hosts"], size, s[rate])

    prepared = s["size"] * s["kept"]
    names = ("analysis", "validation", "preparation", "saving", "training", "evaluation", "deployment")
    tasks = (
        stage("analysis_rate", s["size"]),
        stage("validation_rate", s["size"]),
        stage("preparation_rate", s["size"]),
        Move(s["hosts"], s["source"], prepared),
        TrainSteps(asked, 0.0, samples=s["samples"]),
        TrainSteps(asked, 0.0, samples=s["evaluated"] * _FORWARD),
        Move(s["source"], s["serve"], s["weights"]),
    )
    steps = tuple(
        Step(name, task, names[k - 1 : k] if k else (), {name: 1})
        for k, (name, task) in enumerate(zip(names, tasks, strict=True))
    )
    measures = (
        Measure("workflow_time", "s", "latency", "deployment"),
        *(Measure(f"{name}_time", "s", "time", name) for name in names if name != "saving"),
        Measure("retraining_share", "1", "share", "training", every),
    )
    drift = s["trigger"] == "drift"
    arrivals = Arrivals("poisson" if drift else "periodic", 1 / every, seed=s["seed"])
    return Program("workflow", steps, s["retrainings"], arrivals, measures=measures)


WORKLOAD = WorkloadKind(
    name="workflow",
    title="ML workflow",
    reports="training",
    metrics=(
        "workflow_time",
        "analysis_time",
        "validation_time",
        "preparation_time",
        "training_time",
        "evaluation_time",
        "deployment_time",
        "retraining_share",
    ),
    program=program,
    help="From new data to a deployed model: analysis, validation and preparation on processors, training, evaluation, "
    "deployment; again on a cadence, or when data drift. Saturation shows the cadence that is too fast.",
    settings=(
        *MODEL,
        *LAYOUT,
        Setting("source", "Data from", "selector", "storage"),
        Setting("hosts", "Prepared on", "selector", "memory", help="memory of the hosts whose processors work"),
        Setting("size", "New data", "size", "1 TB", help="of each retraining"),
        Setting("kept", "Kept", "ratio", "0.5", help="prepared data against new data"),
        Setting("analysis_rate", "Analysis, a core", "rate", "200 MB/s"),
        Setting("validation_rate", "Validation, a core", "rate", "400 MB/s"),
        Setting("preparation_rate", "Preparation, a core", "rate", "50 MB/s"),
        Setting("samples", "Samples trained on", "count", 1_000_000),
        Setting("evaluated", "Samples evaluated", "count", 50_000),
        Setting("serve", "Deployed to", "selector", "gpus"),
        Setting("weights", "Deployed weights", "size", "14 GB", help="to each part it is deployed to"),
        Setting(
            "retrain_every", "Retraining", "duration", "24 h", help="cadence, or mean time until data have drifted"
        ),
        Setting("trigger", "Retrained", "choice", "cadence", choices=("cadence", "drift")),
        Setting("retrainings", "Retrainings", "count", 3),
        Setting("seed", "Seed of drift", "count", 0),
    ),
)
