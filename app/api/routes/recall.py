"""
Recall and context over HTTP: reads, even though they are posted.
"""

from litestar import Controller, post
from litestar.params import FromPath, JSONBody

from app.api.auth import READ
from app.api.openapi import PROBLEMS
from app.api.request import ApiRequest
from app.api.schemas.context import ContextIn, ContextOut, context_out, context_request
from app.api.schemas.recall import Answer, Answers, Question, Questions, answer_out, recall_request
from app.errors import InvalidInput


class RecallController(Controller):
    """
    Questions to a bank.
    """

    path = "/v1/banks/{bank:str}"
    tags = ("recall",)

    @post("/recall", opt=READ, status_code=200, responses=PROBLEMS, summary="Recall what matters to a question")
    async def recall(self, request: ApiRequest, bank: FromPath[str], data: JSONBody[Question]) -> Answer:
        answer = await request.services.recall.recall(bank, recall_request(data))
        request.metrics.recalled(answer.retrieval, answer.degraded)
        return answer_out(answer)

    @post("/recall/batch", opt=READ, status_code=200, responses=PROBLEMS, summary="Recall for several questions")
    async def batch(self, request: ApiRequest, bank: FromPath[str], data: JSONBody[Questions]) -> Answers:
        most = request.services.settings.server.recall_batch_max
        if not 1 <= len(data.queries) <= most:
            raise InvalidInput.of("queries", f"1 to {most} at once, got {len(data.queries)}")
        answers = await request.services.recall.batch(bank, [recall_request(item) for item in data.queries])
        for answer in answers:
            request.metrics.recalled(answer.retrieval, answer.degraded)
        return Answers([answer_out(answer) for answer in answers])

    @post(
        "/context", opt=READ, status_code=200, responses=PROBLEMS, summary="Assemble a prompt section within a budget"
    )
    async def context(self, request: ApiRequest, bank: FromPath[str], data: JSONBody[ContextIn]) -> ContextOut:
        answer = await request.services.context.assemble(bank, context_request(data))
        request.metrics.recalled(answer.retrieval, answer.degraded)
        return context_out(answer)
