"""Holds what is in deploy/ against schemas, systemd and the binary.

The Kubernetes objects are validated with the schemas that the package kubernetes-validate carries, and against each
other; the unit with systemd-analyze where there is one. Every variable must be one the binary knows.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import kubernetes_validate
import yaml

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
# The first with the sleep of preStop without a feature gate, and the latest the package knows.
VERSIONS = ["1.30.0", kubernetes_validate.latest_version()]
# Of 10; 0 is best. What is left: it listens, and its address families.
EXPOSURE_MAX = "2.0"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    binary = parser.parse_args().binary.resolve()
    known = variables(binary)
    check_kubernetes(known)
    check_unit(binary, known)
    print("deploy: sound")


def variables(binary: pathlib.Path) -> set[str]:
    """The variables `queryscope serve` takes."""
    text = subprocess.run([binary, "serve", "--help"], check=True, capture_output=True, text=True, timeout=30).stdout
    known = set(re.findall(r"QUERYSCOPE_[A-Z_]+", text))
    assert "QUERYSCOPE_DATA" in known, text
    return known


def check_kubernetes(known: set[str]) -> None:
    objects = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    for version in VERSIONS:
        for each in objects:
            kubernetes_validate.validate(each, version, strict=True)
    by_kind = {each["kind"]: each for each in objects}
    assert len(by_kind) == len(objects), "one of each kind"
    pod = by_kind["Deployment"]["spec"]["template"]
    labels = pod["metadata"]["labels"].items()
    selectors = [
        by_kind["Deployment"]["spec"]["selector"]["matchLabels"],
        by_kind["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        by_kind["Service"]["spec"]["selector"],
    ]
    assert all(selector.items() <= labels for selector in selectors), "each selects the pods"
    assert pod["spec"]["serviceAccountName"] == by_kind["ServiceAccount"]["metadata"]["name"]
    (container,) = pod["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    environment = {each["name"]: each.get("value") for each in container["env"]}
    assert environment["QUERYSCOPE_BIND"] == f"0.0.0.0:{ports['http']}"
    assert by_kind["Service"]["spec"]["ports"][0]["targetPort"] in ports
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": "/v1/health", "port": "http"}, probe
    unknown = {name for name in environment if name.startswith("QUERYSCOPE_")} - known
    assert not unknown, f"the binary knows nothing of {unknown}"
    assert environment["QUERYSCOPE_DATA"] in [mount["mountPath"] for mount in container["volumeMounts"]]
    budget = by_kind["PodDisruptionBudget"]["spec"]["maxUnavailable"]
    assert 0 < budget < by_kind["Deployment"]["spec"]["replicas"], "upgrades of machines go on, and the service, too"


def check_unit(binary: pathlib.Path, known: set[str]) -> None:
    text = (DEPLOY / "queryscope.service").read_text()
    unknown = set(re.findall(r"QUERYSCOPE_[A-Z_]+", text)) - known
    assert not unknown, f"the binary knows nothing of {unknown}"
    if shutil.which("systemd-analyze") is None:
        print("deploy: no systemd-analyze here, the unit is not verified")
        return
    with tempfile.TemporaryDirectory() as folder:
        unit = pathlib.Path(folder) / "queryscope.service"
        unit.write_text(text.replace("/usr/bin/queryscope", str(binary)))
        run("systemd-analyze", "verify", unit)
        run("systemd-analyze", "security", "--offline=true", f"--threshold={float(EXPOSURE_MAX) * 10:.0f}", unit)


def run(*command: object) -> None:
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60)
    # Warnings of `verify` do not change how it ends.
    said = ended.stderr.strip()
    if ended.returncode != 0 or said:
        sys.exit(f"{command}: {ended.returncode}\n{ended.stdout}\n{said}")


if __name__ == "__main__":
    main()
