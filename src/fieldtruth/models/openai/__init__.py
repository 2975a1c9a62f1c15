"""Any server that speaks OpenAI's chat completions: vLLM, SGLang, llama.cpp, Ollama, a hosted one.

    --model openai --model-args model=Qwen3-VL-8B,base_url=http://127.0.0.1:8000/v1,space=norm1000

    settings   the options of the command line, the version they add up to, and the key
    photos     a file -> what is sent of it
    body       a request -> the bytes of the call, in pieces
    answer     the bytes that came back -> words, or why there are none
    calls      one request asked until it is answered or given up
    budget     tokens and money: what it would cost, what it did cost
    waiting    how patient a run is with a server
    client     many requests at a time, from a caller that waits for none
    plain      the same with Python's own library alone, for judges

The key comes from OPENAI_API_KEY and nowhere else, and leaves only in the header of a call.
Needs the extra `openai` (aiohttp and pybase64), `plain` alone does not.
"""

from collections.abc import Mapping
from os import environ

from fieldtruth.faults import Usage
from fieldtruth.models.contract import Model, Opener
from fieldtruth.models.openai.settings import Secret, read_settings


def _open(options: Mapping[str, str]) -> Model:
    secret = Secret.of(environ)
    settings = read_settings(options, environ)
    try:
        from fieldtruth.models.openai.client import Client
    except ModuleNotFoundError as missing:
        if missing.name != "aiohttp":
            raise
        raise Usage(
            f"openai needs {missing.name}, which is not installed; pip install 'fieldtruth[openai]'"
        ) from None
    return Client(settings, secret)


SCHEMA = "schema"  # the option that takes a JSON schema's file, for stages that ask for a shape
OPEN: Opener = _open
