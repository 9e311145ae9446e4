# mypy: ignore-errors
# ruff: noqa: PERF401
"""Records a conversation with each real client, for the tests of its format.

    python3 -m venv VENV && VENV/bin/pip install -r requirements.txt
    VENV/bin/python record.py          # writes fixtures/, offline: the model is vendor.py
    npm install ai @ai-sdk/openai zod && node record.mjs URL   # see record.mjs

The versions are those of requirements.txt and of record.mjs.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vendor import ANSWERS, QUERIES, SYSTEM, TOOLS, Vendor, run_tool

FIXTURES = Path(__file__).parent / "fixtures"
ROOT = str(Path(__file__).parents[5])
"""Stands in recorded tracebacks; `/project` is written for it."""


def _write(name: str, text: str) -> None:
    (FIXTURES / name).write_text(text.rstrip().replace(ROOT, "/project") + "\n")


def _lines(values: list[Any]) -> str:
    return "\n".join(json.dumps(value) for value in values)


def _answer_of(call: Any) -> str:
    try:
        return run_tool(call.name, **json.loads(call.arguments))
    except LookupError as error:
        return f"Error: {error}"


def responses(url: str) -> None:
    """Every request with its response, whole; and a chain by `previous_response_id`."""
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key="test")
    tools: Any = [{"type": "function", "strict": False, **tool} for tool in TOOLS]
    items: list[Any] = []
    whole = []
    for query in QUERIES:
        items.append({"role": "user", "content": query})
        while True:
            request = {"model": "gpt-6-luna", "instructions": SYSTEM, "tools": tools, "input": list(items)}
            response = client.responses.create(**request)
            whole.append({"request": request, "response": response.model_dump(mode="json")})
            items += [item.model_dump(mode="json", exclude_none=True) for item in response.output]
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                break
            items += [
                {"type": "function_call_output", "call_id": call.call_id, "output": _answer_of(call)} for call in calls
            ]
    _write("responses.jsonl", _lines(whole))


def responses_chain(url: str) -> None:
    """A conversation that each request continues by `previous_response_id`."""
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key="test")
    tools: Any = [{"type": "function", "strict": False, **tool} for tool in TOOLS]
    written = []
    previous = None
    for query in QUERIES:
        items: list[Any] = [{"role": "user", "content": query}]
        while items:
            request = {"model": "gpt-6-luna", "instructions": SYSTEM, "tools": tools, "input": items}
            request |= {"previous_response_id": previous} if previous else {}
            response = client.responses.create(**request)
            written.append({"request": request, "response": response.model_dump(mode="json")})
            previous = response.id
            items = [
                {"type": "function_call_output", "call_id": item.call_id, "output": _answer_of(item)}
                for item in response.output
                if item.type == "function_call"
            ]
    _write("responses_chain.jsonl", _lines(written))


def pydantic_ai(url: str) -> None:
    """The messages of two runs, as `ModelMessagesTypeAdapter` writes them, and as OTLP by logfire's conventions."""
    from opentelemetry.sdk.trace import TracerProvider
    from pydantic_ai import Agent, InstrumentationSettings, ModelMessagesTypeAdapter, ModelRetry
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider, spans = _provider(TracerProvider)
    model = OpenAIChatModel("gpt-6-luna", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="test"))
    Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
    agent = Agent(model, system_prompt=SYSTEM)

    @agent.tool_plain
    def find_order(number: int) -> str:
        """Find an order by its number."""
        try:
            return run_tool("find_order", number)
        except LookupError as error:
            raise ModelRetry(str(error)) from error

    @agent.tool_plain
    def refund(number: int) -> str:
        """Pay an order back."""
        return run_tool("refund", number)

    first = agent.run_sync(QUERIES[0])
    second = agent.run_sync(QUERIES[1], message_history=first.all_messages())
    _write("pydantic_ai.json", ModelMessagesTypeAdapter.dump_json(second.all_messages(), indent=1).decode())
    _write_otlp("otlp_pydantic_ai.jsonl", spans)


def langchain(url: str, callbacks: Any = None) -> None:
    """Messages of an agent: `messages_to_dict`, and `dumps` of `langchain_core.load`."""
    from langchain.agents import create_agent
    from langchain_core.load import dumps
    from langchain_core.messages import messages_to_dict
    from langchain_core.tools import StructuredTool
    from langchain_openai import ChatOpenAI

    def tool(name: str, description: str) -> StructuredTool:
        def call(number: int) -> str:
            return run_tool(name, number)

        made = StructuredTool.from_function(call, name=name, description=description)
        made.handle_tool_error = True
        return made

    from langchain.agents.middleware import ToolCallRequest, wrap_tool_call
    from langchain_core.messages import ToolMessage

    @wrap_tool_call
    def failures(request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        try:
            return handler(request)
        except LookupError as error:
            return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")

    model = ChatOpenAI(model="gpt-6-luna", base_url=f"{url}/v1", api_key="test")
    tools = [tool(each["name"], each["description"]) for each in TOOLS]
    agent = create_agent(model, tools, system_prompt=SYSTEM, middleware=[failures])
    messages: Any = []
    for query in QUERIES:
        messages = agent.invoke(
            {"messages": [*messages, {"role": "user", "content": query}]}, {"callbacks": callbacks}
        )["messages"]
    if callbacks:
        return
    _write("langchain_dict.json", json.dumps(messages_to_dict(messages), indent=1))
    _write("langchain_dumps.json", dumps(messages, pretty=True))


def langsmith(url: str) -> None:
    """Runs of a LangChain agent, as `Client.list_runs` has them: flat, each as `model_dump`."""
    from langchain_core.load import dumpd
    from langchain_core.tracers.langchain import LangChainTracer
    from langsmith import Client

    runs: dict[Any, Any] = {}

    class Kept(LangChainTracer):
        def _persist_run_single(self, run: Any) -> None:
            runs[run.id] = run

        def _update_run_single(self, run: Any) -> None:
            runs[run.id] = run

    tracer = Kept(client=Client(api_url="http://127.0.0.1:9", api_key="test", auto_batch_tracing=False))
    langchain(url, callbacks=[tracer])
    left_out = {"child_runs", "parent_run", "serialized", "ls_client", "client", "events", "attachments"}
    dumped = [run.model_dump(mode="python", exclude=left_out) for run in runs.values()]
    _write(
        "langsmith.jsonl",
        "\n".join(
            json.dumps(run, default=lambda v: dumpd(v) if hasattr(v, "lc_attributes") else str(v)) for run in dumped
        ),
    )


def langfuse(url: str) -> None:
    """Generations of chats with OpenAI's client, as Langfuse's API has them: its SDK's own type, as JSON Lines."""
    from datetime import UTC, datetime, timedelta

    from langfuse.api import ObservationV2
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key="test")
    tools: Any = [{"type": "function", "function": tool} for tool in TOOLS]
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    written = []
    for query in QUERIES:
        messages.append({"role": "user", "content": query})
        while True:
            reply = client.chat.completions.create(model="gpt-6-luna", messages=messages, tools=tools)
            message = reply.choices[0].message.model_dump(exclude_none=True)
            start = datetime(2026, 11, 20, tzinfo=UTC) + timedelta(seconds=len(written))
            known = dict.fromkeys(ObservationV2.model_fields)
            observation = ObservationV2.model_construct(
                **known
                | {
                    "id": f"observation-{len(written)}",
                    "trace_id": "trace-1",
                    "type": "GENERATION",
                    "name": "OpenAI-generation",
                    "start_time": start,
                    "end_time": start,
                    "level": "DEFAULT",
                    "model": "gpt-6-luna",
                    "input": {"messages": list(messages), "tools": tools},
                    "output": message,
                }
            )
            written.append(observation.model_dump(mode="json", by_alias=True))
            messages.append(message)
            for call in reply.choices[0].message.tool_calls or ():
                messages.append({"role": "tool", "tool_call_id": call.id, "content": _answer_of(call.function)})
            if not reply.choices[0].message.tool_calls:
                break
    _write("langfuse.jsonl", _lines(written))


def _provider(make: Any) -> tuple[Any, Any]:
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans, provider = InMemorySpanExporter(), make()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    return provider, spans


def _hexadecimal(value: Any) -> Any:
    """Ids as OTLP JSON has them, not in base64 as protobuf has bytes."""
    if isinstance(value, dict):
        ids = ("traceId", "spanId", "parentSpanId")
        return {key: base64.b64decode(item).hex() if key in ids else _hexadecimal(item) for key, item in value.items()}
    return [_hexadecimal(item) for item in value] if isinstance(value, list) else value


def _write_otlp(name: str, spans: Any) -> None:
    """OTLP JSON, a batch a line, as the file exporter of the collector writes it."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    finished = spans.get_finished_spans()
    half = len(finished) // 2
    batches = [encode_spans(part) for part in (finished[:half], finished[half:])]
    _write(name, _lines([_hexadecimal(MessageToDict(batch, use_integers_for_enums=True)) for batch in batches]))


def _chat(url: str, provider: Any) -> None:
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key="test")
    tools: Any = [{"type": "function", "function": tool} for tool in TOOLS]
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    with provider.get_tracer("shop").start_as_current_span("chat with a customer"):
        for query in QUERIES:
            messages.append({"role": "user", "content": query})
            while True:
                reply = client.chat.completions.create(model="gpt-6-luna", messages=messages, tools=tools)
                message = reply.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                for call in message.tool_calls or ():
                    content = _answer_of(call.function)
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
                if not message.tool_calls:
                    break


def otlp_openai(url: str) -> None:
    """Spans of opentelemetry-instrumentation-openai-v2 with the present conventions."""
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "span_only"
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    from opentelemetry.sdk.trace import TracerProvider

    provider, spans = _provider(TracerProvider)
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    _chat(url, provider)
    OpenAIInstrumentor().uninstrument()
    _write_otlp("otlp_openai_v2.jsonl", spans)


def otlp_events(url: str) -> None:
    """Log records of opentelemetry-instrumentation-openai-v2 with the conventions of 2024; in a process of its own."""
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.trace import TracerProvider

    provider, spans = _provider(TracerProvider)
    logs, log_provider = InMemoryLogRecordExporter(), LoggerProvider()
    log_provider.add_log_record_processor(SimpleLogRecordProcessor(logs))
    OpenAIInstrumentor().instrument(tracer_provider=provider, logger_provider=log_provider)
    _chat(url, provider)
    OpenAIInstrumentor().uninstrument()
    _write_otlp("otlp_events.jsonl", spans)
    batch = MessageToDict(encode_logs(logs.get_finished_logs()), use_integers_for_enums=True)
    with (FIXTURES / "otlp_events.jsonl").open("a") as file:
        file.write(json.dumps(_hexadecimal(batch)) + "\n")


def otlp_openllmetry(url: str) -> None:
    """Spans of OpenLLMetry's opentelemetry-instrumentation-openai; in an environment of its own."""
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor
    from opentelemetry.sdk.trace import TracerProvider

    provider, spans = _provider(TracerProvider)
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    _chat(url, provider)
    OpenAIInstrumentor().uninstrument()
    _write_otlp("otlp_openllmetry.jsonl", spans)


def gemini(url: str) -> None:
    """Requests and responses of generateContent, as the client's models write them."""
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="test", http_options=types.HttpOptions(base_url=url))
    declarations = [
        types.FunctionDeclaration(**{**tool, "parameters": None, "parameters_json_schema": tool["parameters"]})
        for tool in TOOLS
    ]
    config = types.GenerateContentConfig(
        system_instruction=SYSTEM, tools=[types.Tool(function_declarations=declarations)]
    )
    contents: list[Any] = []
    written = []
    for query in QUERIES:
        contents.append(types.Content(role="user", parts=[types.Part(text=query)]))
        while True:
            response = client.models.generate_content(model="gemini-3.5-flash", contents=contents, config=config)
            dump = {"mode": "json", "exclude_none": True, "by_alias": True}
            written.append(
                {
                    "model": "gemini-3.5-flash",
                    "contents": [each.model_dump(**dump) for each in contents],
                    "config": config.model_dump(**dump),
                    "response": response.model_dump(**dump, exclude={"sdk_http_response"}),
                }
            )
            contents.append(response.candidates[0].content)
            calls = response.function_calls or []
            if not calls:
                break
            parts = []
            for call in calls:
                try:
                    result = {"output": run_tool(call.name, **call.args)}
                except LookupError as error:
                    result = {"error": str(error)}
                parts.append(types.Part.from_function_response(name=call.name, response=result))
            contents.append(types.Content(role="user", parts=parts))
    _write("gemini.jsonl", _lines(written))


def ai_sdk(url: str, kind: str = "model") -> None:
    """Messages of the AI SDK: record.mjs, or the copy of it that `AI_SDK` names, beside its `node_modules`."""
    script = os.environ.get("AI_SDK", "record.mjs")
    arguments = [kind, url, str(FIXTURES), SYSTEM, json.dumps(QUERIES), json.dumps(TOOLS)]
    subprocess.run(["node", script, *arguments], check=True)


def ai_sdk_chat(url: str) -> None:
    """Messages of a chat, streamed."""
    ai_sdk(url, "chat")


def deepeval(url: str) -> None:
    """Test cases of DeepEval as `save_as` writes them; in an environment of its own."""
    import tempfile

    from deepeval.dataset import EvaluationDataset
    from deepeval.test_case import LLMTestCase, ToolCall

    calls = [("find_order", 21), ("find_order", 12)], [("refund", 7)]
    dataset = EvaluationDataset()
    for query, made, answer in zip(QUERIES, calls, ("It is on its way.", "It is paid back."), strict=True):
        tools = []
        for name, number in made:
            try:
                output = run_tool(name, number)
            except LookupError as error:
                output = f"Error: {error}"
            tools.append(ToolCall(name=name, input_parameters={"number": number}, output=output))
        dataset.add_test_case(LLMTestCase(input=query, actual_output=answer, tools_called=tools))
    with tempfile.TemporaryDirectory() as folder:
        path = dataset.save_as(file_type="json", directory=folder, file_name="deepeval", include_test_cases=True)
        _write("deepeval.json", Path(path).read_text())


RECORDERS = {
    "responses": responses,
    "responses_chain": responses_chain,
    "pydantic_ai": pydantic_ai,
    "langchain": langchain,
    "otlp_openai": otlp_openai,
    "gemini": gemini,
    "langsmith": langsmith,
    "langfuse": langfuse,
    "ai_sdk": ai_sdk,
    "ai_sdk_chat": ai_sdk_chat,
    "deepeval": deepeval,
    "otlp_events": otlp_events,
    "otlp_openllmetry": otlp_openllmetry,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or RECORDERS:
        with Vendor(ANSWERS) as vendor:
            RECORDERS[name](vendor.url)
