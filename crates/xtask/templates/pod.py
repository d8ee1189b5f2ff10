"""Makes of a Job's manifest what a kubelet makes of it: pod.py FOLDER MANIFEST INDEX ADDRESS ROOT writes the files of its volumes, its
variables and its container's command below ROOT, as /pod.sh, for the pod with this index and address on a node of its own."""

import pathlib
import shlex
import sys

import yaml

folder, manifest, index, address, root = sys.argv[1:]
folder, root = pathlib.Path(folder), pathlib.Path(root)
workload = yaml.safe_load((folder / "workload.yaml").read_text())
(job,) = (part for part in yaml.safe_load_all((folder / manifest).read_text()) if part["kind"] == "Job")
pod = job["spec"]["template"]["spec"]
(container,) = pod["containers"]
volumes = {volume["name"]: volume for volume in pod["volumes"]}


def value(variable):
    if "value" in variable:
        return variable["value"]
    source = variable["valueFrom"]
    if "fieldRef" in source:
        return {"spec.nodeName": f"node-{index}", "status.podIP": address}[source["fieldRef"]["fieldPath"]]
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
variables = {variable["name"]: value(variable) for variable in container["env"]} | {"JOB_COMPLETION_INDEX": index}
exported = [f"export {name}={shlex.quote(text)}\n" for name, text in variables.items()]
(root / "pod.sh").write_text("".join(exported) + f"exec {shlex.join(container['command'])}\n")
