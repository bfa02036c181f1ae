/** SIGKILL while a field changes its type: all values are of the new type, or none. Reference: schemas.md#change-the-type-of-a-field. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeData } from '../support/data.ts';
import { createMany, defineTable } from '../support/query.ts';
import { engines } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';

const table = 'Retyped';
const COUNT = 8_000;
/** Milliseconds after the request begins. */
const delays = [0, 30, 60, 120, 240, 480];

for (const engine of engines)
  describe(`types that change beside kills (${engine})`, () => {
    test('after each start the schema and every value agree, and nothing is left over', async () => {
      const data = await makeData(engine);
      let service = await startServiceProcess(data);
      await defineTable(service, table, { F: 'String', n: 'Number' }, { indexes: { byF: { F: 1 } } });
      await createMany(
        service,
        table,
        Array.from({ length: COUNT }, (_, n) => ({ F: String(n), n })),
      );
      const types = ['String', 'Number'];
      let isNumber = false;
      for (const delay of delays) {
        const wanted: string | undefined = types[isNumber ? 0 : 1];
        const change = service
          .call('PUT', `/platform/schemas/${table}`, { body: { fields: { F: { __op: 'Retype', type: wanted } } } })
          .catch(() => undefined);
        await wait(delay);
        await service.kill();
        const answer = await change;
        service = await startServiceProcess(data);
        const { type } = (await service.call('GET', `/platform/schemas/${table}`)).body.fields.F;
        if (answer?.status === 200) assert.equal(type, wanted);
        isNumber = type === 'Number';
        const rows = (await service.call('GET', `/platform/classes/${table}`, { query: { limit: COUNT + 1, order: 'n' } })).body
          .results;
        assert.deepEqual(
          rows.map(({ F }: { F: unknown }) => F),
          Array.from({ length: COUNT }, (_, n) => (isNumber ? n : String(n))),
        );
        const found = await service.call('GET', `/platform/classes/${table}`, { query: { where: { F: isNumber ? 17 : '17' } } });
        assert.equal(found.body.results.length, 1);
      }
      await service.stop();
      await data.remove();
    });
  });
