"""Holds what is in deploy/, and what makes a release, against schemas, linters, systemd and the binary.

The Kubernetes objects are validated with the schemas that the package kubernetes-validate carries, and against each
other; the unit with systemd-analyze where there is one. Every variable must be one the binary knows. The workflow of a
release is validated with the schema that check-jsonschema carries, and audited by zizmor, all without a network.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
# The first with the sleep of preStop without a feature gate, and the latest the package knows.
VERSIONS = ["1.30.0", kubernetes_validate.latest_version()]
# Of 10; 0 is best. What is left: it listens, and its address families.
EXPOSURE_MAX = "2.0"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    binary = parser.parse_args().binary.resolve()
    known = variables(binary)
    check_shared(check_kubernetes(DEPLOY, known, "Deployment"))
    check_embedded(check_kubernetes(DEPLOY / "embedded", known, "StatefulSet"))
    check_unit(binary, known)
    check_release()
    check_examples()
    print("deploy: sound")


def variables(binary: pathlib.Path) -> set[str]:
    """The variables `queryscope serve` takes."""
    text = subprocess.run([binary, "serve", "--help"], check=True, capture_output=True, text=True, timeout=30).stdout
    known = set(re.findall(r"QUERYSCOPE_[A-Z_]+", text))
    assert "QUERYSCOPE_DATA" in known, text
    return known


def check_kubernetes(folder: pathlib.Path, known: set[str], kind: str) -> dict[str, dict]:
    """The objects of a folder by their kind. `kind` is that of the object that makes the pods."""
    objects = list(yaml.safe_load_all((folder / "kubernetes.yaml").read_text()))
    for version in VERSIONS:
        for each in objects:
            kubernetes_validate.validate(each, version, strict=True)
    by_kind = {each["kind"]: each for each in objects}
    assert len(by_kind) == len(objects), "one of each kind"
    spec = by_kind[kind]["spec"]
    pod = spec["template"]
    labels = pod["metadata"]["labels"].items()
    selectors = [spec["selector"]["matchLabels"], by_kind["Service"]["spec"]["selector"]]
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
    data = pathlib.PurePosixPath(environment["QUERYSCOPE_DATA"])
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    mounted = {mounts[str(path)] for path in (data, *data.parents) if str(path) in mounts}
    volumes = {each["name"] for each in pod["spec"].get("volumes", [])}
    volumes |= {each["metadata"]["name"] for each in spec.get("volumeClaimTemplates", [])}
    assert mounted and mounted <= volumes, "the data is on a volume"
    check_kustomization(folder, container["image"])
    return by_kind


def check_shared(by_kind: dict[str, dict]) -> None:
    """Upgrades of machines go on, and the service, too."""
    labels = by_kind["Deployment"]["spec"]["template"]["metadata"]["labels"].items()
    budget = by_kind["PodDisruptionBudget"]["spec"]
    assert budget["selector"]["matchLabels"].items() <= labels, "it selects the pods"
    assert 0 < budget["maxUnavailable"] < by_kind["Deployment"]["spec"]["replicas"]


def check_embedded(by_kind: dict[str, dict]) -> None:
    """A store in a folder belongs to one collector."""
    assert by_kind["StatefulSet"]["spec"]["replicas"] == 1
    assert by_kind["StatefulSet"]["spec"]["serviceName"] == by_kind["Service"]["metadata"]["name"]


def check_kustomization(folder: pathlib.Path, image: str) -> None:
    """Of a kustomization: its resources are there, and it sets the tag of the image that they name."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert set(kustomization) == {"apiVersion", "kind", "resources", "images"}, kustomization
    assert kustomization["kind"] == "Kustomization"
    assert all((folder / resource).is_file() for resource in kustomization["resources"])
    version = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    name, _, tag = image.rpartition(":")
    assert kustomization["images"] == [{"name": name, "newTag": version}], kustomization
    assert tag == version, f"the version is {version}"


def check_release() -> None:
    """The release's workflow has the shape that GitHub takes. Linters warn of nothing in it, its scripts, its image."""
    workflow = ROOT / ".github" / "workflows" / "release.yml"
    tools = pathlib.Path(sys.executable).parent
    run(tools / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", workflow, quiet=False)
    run(tools / "zizmor", "--offline", "--quiet", workflow, quiet=False)
    run(tools / "hadolint", DEPLOY / "Dockerfile")
    scripts = [ROOT / "scripts" / name for name in ("release-build", "release-try", "install-packages")]
    for job in yaml.safe_load(workflow.read_text())["jobs"].values():
        for step in job["steps"]:
            named = re.match(r"(?:python3 )?(scripts/\S+)", step.get("run", ""))
            assert not named or (ROOT / named[1]).is_file(), f"{named[1]} is not there"
            run("bash", "-n", "-c", step.get("run", ""))
    if shutil.which("shellcheck") is None:
        print("deploy: no shellcheck here, the release's scripts are only parsed")
        for script in scripts:
            run("sh", "-n", script)
    else:
        run("shellcheck", *scripts)


def check_examples() -> None:
    """The examples for GitHub Actions and GitLab have the shapes that these take. A shell can read their commands."""
    guide = (ROOT / "docs" / "guides" / "ci.md").read_text()
    github, gitlab = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    tools = pathlib.Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        workflow = pathlib.Path(folder) / ".github" / "workflows" / "queries.yml"
        workflow.parent.mkdir(parents=True)
        workflow.write_text(github)
        pipeline = pathlib.Path(folder) / ".gitlab-ci.yml"
        pipeline.write_text(gitlab)
        run(tools / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", workflow, quiet=False)
        run(tools / "check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", pipeline, quiet=False)
        run(tools / "zizmor", "--offline", "--quiet", workflow, quiet=False)
    (job,) = yaml.safe_load(github)["jobs"].values()
    commands = [step.get("run", "") for step in job["steps"]]
    commands += yaml.safe_load(gitlab)["queries"]["script"]
    assert sum("queryscope gate" in command for command in commands) == 3, commands
    for command in commands:
        run("bash", "-n", "-c", command)


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


def run(*command: object, quiet: bool = True) -> None:
    """Runs a linter. What is `quiet` says something only where something is wrong, whatever code it ends with."""
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60)
    said = ended.stderr.strip() if quiet else ""
    if ended.returncode != 0 or said:
        sys.exit(f"{command}: {ended.returncode}\n{ended.stdout}\n{ended.stderr}")


if __name__ == "__main__":
    main()
