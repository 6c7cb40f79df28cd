"""Questions as tasks of the Agent2Agent protocol: a task is a run of this server, and a context is a thread.

So tasks are kept, limited and owned as runs are, and go on when nobody reads. The protocol's own package reads and
writes its messages, those of version 0.3 as well, which many agents speak.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NoReturn
from uuid import uuid4

from a2a import types
from a2a.helpers import get_message_text, new_artifact, new_data_part, new_text_message, new_text_part
from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.request_handlers import RequestHandler
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import DefaultServerCallContextBuilder
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.utils import errors
from starlette.requests import Request
from typing_extensions import override

import anabranch
from anabranch.agent.nodes.finish import derive_result
from anabranch.errors import AnabranchError, UserError
from anabranch_server.requester import Requester
from anabranch_server.run_queue import UNFINISHED, RunRecord
from anabranch_server.run_request import RunRequest
from anabranch_server.run_routes import accept_run
from anabranch_server.services import NotFoundError, Services

log = logging.getLogger("anabranch.server")

TEXT, DATA = "text/plain", "application/json"
ABOUT = (
    "Answers questions from its owner's documents, with verbatim quotes and where they stand; says so where it cannot."
)
CITED = ("marker", "source", "title", "page", "heading", "claim", "quote", "grade", "link")


@dataclass(frozen=True, slots=True)
class Asked:
    """The caller of a request, and the services of the server."""

    caller: Requester
    services: Services


def card_at(place: str, *, authenticates: bool) -> dict[str, Any]:
    """Return the agent's card.

    Args:
        place: Address of its messages.
        authenticates: Whether callers have to authenticate.
    """
    found = types.AgentCard(
        name="Anabranch",
        description=ABOUT,
        version=anabranch.__version__,
        supported_interfaces=[
            types.AgentInterface(url=place, protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
        capabilities=types.AgentCapabilities(streaming=True),
        default_input_modes=[TEXT],
        default_output_modes=[TEXT, DATA],
        skills=[types.AgentSkill(id="answer", name="Answer a question", description=ABOUT, tags=["documents", "rag"])],
    )
    if authenticates:
        bearer = types.HTTPAuthSecurityScheme(scheme="bearer", description="A key or a token of this server.")
        found.security_schemes["bearer"].http_auth_security_scheme.CopyFrom(bearer)
        found.security_requirements.add().schemes["bearer"].SetInParent()
    return agent_card_to_dict(found)


@lru_cache(maxsize=1)
def dispatcher() -> JsonRpcDispatcher:
    """Return the dispatcher of the protocol's messages; it has no state."""
    return JsonRpcDispatcher(AnswerTasks(), _ContextBuilder(), enable_v0_3_compat=True)


class _ContextBuilder(DefaultServerCallContextBuilder):
    """Passes on the caller that the route found."""

    def build(self, request: Request) -> ServerCallContext:
        context = super().build(request)
        context.state["asked"] = request.state.asked
        return context


class AnswerTasks(RequestHandler):
    """The protocol's methods that this server supports: send, stream, get and cancel."""

    async def on_message_send(self, params: types.SendMessageRequest, context: ServerCallContext) -> types.Task:
        """Ask, and wait for the answer unless the request says to return at once."""
        asked: Asked = context.state["asked"]
        with _translate_errors():
            run = await _begin(asked, params.message)
            if not params.configuration.return_immediately:
                await asked.services.events.wait_for_end(run.run_id)
            return task_of(await _find_run(asked, run.run_id))

    async def on_message_send_stream(
        self, params: types.SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        """Ask, and stream the steps, then the answer."""
        asked: Asked = context.state["asked"]
        with _translate_errors():
            run = await _begin(asked, params.message)
            async for event in _follow(asked, run):
                yield event

    async def on_subscribe_to_task(
        self, params: types.SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        """Stream the steps of a task that has not ended."""
        asked: Asked = context.state["asked"]
        with _translate_errors():
            run = await _find_run(asked, params.id)
            if run.status not in UNFINISHED:
                raise errors.UnsupportedOperationError("The task has ended: use GetTask to read it.")
            async for event in _follow(asked, run):
                yield event

    async def on_get_task(self, params: types.GetTaskRequest, context: ServerCallContext) -> types.Task:
        """Return a task, with its answer if it has ended."""
        with _translate_errors():
            return task_of(await _find_run(context.state["asked"], params.id))

    async def on_cancel_task(self, params: types.CancelTaskRequest, context: ServerCallContext) -> types.Task:
        """Stop a task."""
        asked: Asked = context.state["asked"]
        with _translate_errors():
            run = await _find_run(asked, params.id)
            if run.status not in UNFINISHED:
                raise errors.TaskNotCancelableError
            await asked.services.worker.cancel(run)
            await asked.services.events.wait_for_end(run.run_id)
            return task_of(await _find_run(asked, run.run_id))

    @override
    async def on_list_tasks(self, params: types.ListTasksRequest, context: ServerCallContext) -> NoReturn:
        """Refuse: conversations are listed by the paths of LangGraph's API."""
        raise errors.UnsupportedOperationError

    @override
    async def on_get_extended_agent_card(
        self, params: types.GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> NoReturn:
        """Refuse: the public card holds everything."""
        raise errors.ExtendedAgentCardNotConfiguredError

    @override
    async def on_create_task_push_notification_config(
        self, params: types.TaskPushNotificationConfig, context: ServerCallContext
    ) -> NoReturn:
        """Refuse: this server calls nobody."""
        raise errors.PushNotificationNotSupportedError

    @override
    async def on_get_task_push_notification_config(
        self, params: types.GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> NoReturn:
        """Refuse: this server calls nobody."""
        raise errors.PushNotificationNotSupportedError

    @override
    async def on_list_task_push_notification_configs(
        self, params: types.ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> NoReturn:
        """Refuse: this server calls nobody."""
        raise errors.PushNotificationNotSupportedError

    @override
    async def on_delete_task_push_notification_config(
        self, params: types.DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> NoReturn:
        """Refuse: this server calls nobody."""
        raise errors.PushNotificationNotSupportedError


async def _begin(asked: Asked, message: types.Message) -> RunRecord:
    """Accept a question as a run, in the thread that the context names, or a new one."""
    if message.task_id:
        await _find_run(asked, message.task_id)
        raise errors.UnsupportedOperationError(
            "A task takes one question: send the next one with the same context id and no task id."
        )
    if any(not part.HasField("text") for part in message.parts):
        raise errors.ContentTypeNotSupportedError(f"This agent reads {TEXT}.")
    request = RunRequest(
        input={"question": get_message_text(message)},
        stream_mode=("custom",),
        stream_subgraphs=True,
        if_not_exists="create",
    )
    return await accept_run(asked.services, asked.caller, request, message.context_id or str(uuid4()))


async def _find_run(asked: Asked, task_id: str) -> RunRecord:
    run = await asked.services.runs.get(task_id, asked.caller.owner)
    if run is None or run.thread_id is None or run.request["assistant_id"] != "answer":
        raise errors.TaskNotFoundError
    return run


async def _follow(asked: Asked, run: RunRecord) -> AsyncGenerator[Event]:
    """Yield a task, its steps as they begin, and its result."""
    task = task_of(run)
    yield task
    async for event in asked.services.events.read(run.run_id):
        if event is None or not event.name.startswith("custom"):
            continue
        step = json.loads(event.data)
        if step.get("status") == "started":
            said = new_text_message(step["step"], context_id=run.thread_id, task_id=run.run_id)
            status = types.TaskStatus(state=types.TaskState.TASK_STATE_WORKING, message=said)
            yield types.TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id, status=status)
    ended = task_of(await _find_run(asked, run.run_id))
    for artifact in ended.artifacts:
        yield types.TaskArtifactUpdateEvent(
            task_id=task.id, context_id=task.context_id, artifact=artifact, last_chunk=True
        )
    yield types.TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id, status=ended.status)


def task_of(run: RunRecord) -> types.Task:
    """Return a run as a task: its answer as text, and its sources as data."""
    values, error = (run.result or {}).get("values") or {}, (run.result or {}).get("error")
    if "__interrupt__" in values:
        error = {"message": "`review` paused this question for a person: resume it through LangGraph's API (/threads)."}
    state = {
        "pending": types.TaskState.TASK_STATE_SUBMITTED,
        "running": types.TaskState.TASK_STATE_WORKING,
        "success": types.TaskState.TASK_STATE_COMPLETED,
        "interrupted": types.TaskState.TASK_STATE_CANCELED,
        "error": types.TaskState.TASK_STATE_FAILED,
    }["error" if error else run.status]
    status = types.TaskStatus(state=state, timestamp=datetime.fromtimestamp(run.updated_at, UTC))
    if error:
        status.message.CopyFrom(new_text_message(error["message"], context_id=run.thread_id, task_id=run.run_id))
    parts = []
    if run.status == "success":
        # A run that began behind the last step of a turn has its records, and not what that step makes of them.
        values = {**derive_result(values), **values}
        found = [{name: each[name] for name in CITED} for each in values["citations"]]
        sources = {name: values[name] for name in ("status", "abstained", "unconfirmed")} | {"citations": found}
        parts = [new_text_part(values["answer"], TEXT), new_data_part(sources, DATA)]
    artifacts = [new_artifact(parts, "answer", artifact_id=f"{run.run_id}-answer")] if parts else []
    return types.Task(id=run.run_id, context_id=run.thread_id, status=status, artifacts=artifacts)


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise errors as the protocol's own; an unexpected one is logged, and its text is not sent."""
    try:
        yield
    except errors.A2AError:
        raise
    except NotFoundError as error:
        raise errors.TaskNotFoundError(str(error)) from error
    except UserError as error:
        raise errors.InvalidParamsError(str(error)) from error
    except AnabranchError as error:
        raise errors.InternalError(str(error)) from error
    except Exception as error:
        log.exception("A message of another agent failed")
        raise errors.InternalError("The request failed; the server's log has the reason.") from error
