"""Makes of a Job's manifest what a kubelet makes of it: pod.py FOLDER ROOT NODE writes the files of its volumes, its variables and
its container's command below ROOT, as /pod.sh."""

import pathlib
import shlex
import sys

import yaml

folder, root, node = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
workload = yaml.safe_load((folder / "workload.yaml").read_text())
pod = yaml.safe_load((folder / "job.yaml").read_text())["spec"]["template"]["spec"]
(container,) = pod["containers"]
volumes = {volume["name"]: volume for volume in pod["volumes"]}


def value(variable):
    if "value" in variable:
        return variable["value"]
    source = variable["valueFrom"]
    if "fieldRef" in source:
        return {"spec.nodeName": node}[source["fieldRef"]["fieldPath"]]
    reference = source["configMapKeyRef"]
    assert reference["name"] == workload["metadata"]["name"]
    return workload["data"][reference["key"]]


for mount in container["volumeMounts"]:
    place = root / mount["mountPath"].lstrip("/")
    place.mkdir(parents=True, exist_ok=True)
    if "configMap" in volumes[mount["name"]]:
        assert volumes[mount["name"]]["configMap"]["name"] == workload["metadata"]["name"]
        for name, text in workload["data"].items():
            (place / name).write_text(text)
variables = [f"export {shlex.quote(variable['name'])}={shlex.quote(value(variable))}\n" for variable in container["env"]]
(root / "pod.sh").write_text("".join(variables) + f"exec {shlex.join(container['command'])}\n")
