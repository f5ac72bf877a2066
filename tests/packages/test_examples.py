"""The examples: each is well-formed, names what the image has, and its command lines are run by the real program."""

import json
import re
import shlex

import yaml
from packages import KEY, ROOT, Folder, Process, free_ports, use

import image

EXAMPLES = ROOT / "packaging" / "examples"
PROGRAM = ROOT / "build" / "release" / "kyanite"
SERVICES = ("BLOB", "QUEUE", "TABLE", "FILE", "SMB", "ADMIN")


def documents(name):
    return list(yaml.safe_load_all((EXAMPLES / name).read_text()))


class Examples(Folder):
    def start(self, words, **environment):
        """Runs a command of a container with the image's environment, on ports and in a folder of this test."""
        ports = dict(zip(SERVICES, free_ports(len(SERVICES))))
        variables = dict(pair.split("=", 1) for pair in image.ENVIRONMENT)
        variables |= {f"KYANITE_{name}_PORT": str(port) for name, port in ports.items()} | environment
        words = [str(self.folder / "data") if word == "/data" else word for word in words]
        variables["KYANITE_LOCATION"] = str(self.folder / "data")
        program = self.folder / words[0]
        if not program.is_symlink():
            program.symlink_to(PROGRAM)
        return Process(self, [program, *words[1:]], env=variables), ports

    def test_compose(self):
        [compose] = documents("docker-compose.yml")
        storage = compose["services"]["storage"]
        self.assertEqual({int(pair.split(":")[1]) for pair in storage["ports"]}, {10000, 10001, 10002})
        self.assertEqual([volume.split(":")[1] for volume in storage["volumes"]], ["/data"])
        self.assertIn(shlex.split(storage["healthcheck"]["test"])[0], ["nc", *image.APPLETS])
        server, ports = self.start(shlex.split(storage["command"]))
        server.until("Azurite Table service is successfully listening")
        connection = compose["services"]["app"]["environment"]["AZURE_STORAGE_CONNECTION_STRING"]
        self.assertIn(f"AccountKey={KEY};", connection)
        use(f"http://127.0.0.1:{ports['BLOB']}/devstoreaccount1")
        self.assertEqual(server.stop(), 0)

    def test_actions(self):
        [workflow] = documents("github-actions.yml")
        storage = workflow["jobs"]["test"]["services"]["storage"]
        self.assertEqual({int(pair.split(":")[1]) for pair in storage["ports"]}, {10000, 10001, 10002})
        options = shlex.split(storage["options"])
        health = shlex.split(options[options.index("--health-cmd") + 1])
        server, ports = self.start(["azurite"])  # What the image runs unless told.
        server.until("Azurite Table service is successfully listening")
        environment = {"KYANITE_ADMIN_PORT": str(ports["ADMIN"])}
        self.assertEqual(Process(self, [PROGRAM, *health[1:]], env=environment).process.wait(30), 0)
        self.assertEqual(server.stop(), 0)

    def test_kubernetes(self):
        service, stateful = documents("kubernetes.yaml")
        pod = stateful["spec"]["template"]["spec"]
        [container] = pod["containers"]
        self.assertEqual(service["spec"]["selector"], stateful["spec"]["template"]["metadata"]["labels"])
        self.assertEqual(service["metadata"]["name"], stateful["spec"]["serviceName"])
        self.assertEqual(pod["securityContext"]["runAsUser"], image.USER)
        self.assertFalse(pod["enableServiceLinks"])
        self.assertLessEqual({port["containerPort"] for port in container["ports"]}, set(image.PORTS))
        ports_by_name = {port["name"]: port["containerPort"] for port in container["ports"]}
        self.assertEqual(container["readinessProbe"]["httpGet"], {"path": "/healthz", "port": "admin"})
        self.assertEqual(ports_by_name["admin"], 10010)
        mounts = {mount["name"] for mount in container["volumeMounts"]}
        volumes = {volume["name"] for volume in pod["volumes"]}
        claims = {claim["metadata"]["name"] for claim in stateful["spec"]["volumeClaimTemplates"]}
        self.assertEqual(mounts, volumes | claims)

        config = self.folder / "kyanite.json"
        config.write_text(json.dumps({"accounts": [{"name": "acme", "keys": ["c2VjcmV0"]}]}))
        words = [str(config) if word.startswith("/etc/kyanite/") else word for word in container["command"]]
        environment = {variable["name"]: variable["value"] for variable in container["env"]}
        server, ports = self.start(words, **environment)
        server.until("^Ready")
        use(f"http://127.0.0.1:{ports['BLOB']}/acme", "acme", "c2VjcmV0")
        self.assertNotIn("well-known", server.output())
        self.assertEqual(server.stop(), 0)
        # Without the secret it does not open the door to everybody.
        config.write_text("{}")
        refused, _ = self.start(words, **environment)
        self.assertEqual(refused.process.wait(30), 1)

    def test_testcontainers_changes_one_word(self):
        text = (EXAMPLES / "testcontainers.mjs").read_text()
        self.assertEqual(re.findall(r"new AzuriteContainer\('([^']+)'\)", text), ["kyanite:latest"])
