"""Kills with -9: the way of torture that needs nothing but the server."""

import sabotage
from mode import Mode

ENOUGH_FOR_COVERAGE = 10_000  # Acknowledged writes after which every operation must have been among them.


class Kills(Mode):
    name = "kill"

    async def prepare(self):
        await super().prepare()
        return await self.run.count_together()

    async def cycle(self):
        problems = await self.run.cycle()
        if not problems and self.report.acknowledged > ENOUGH_FOR_COVERAGE:
            problems = [f"no client ever had this acknowledged: {service} {name}" for service, name in self.run.coverage.missing()]
        return problems

    async def self_test(self):
        return await sabotage.self_test(self.run)
