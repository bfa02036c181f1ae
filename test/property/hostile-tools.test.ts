/**
 * Property: whatever the arguments of any agent tool contain, the answer is no fault and reveals no internals, and the process survives.
 * `PROPERTY_RUNS` makes the search longer, `PROPERTY_SEED` repeats one.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { masterHeaders, mcpAddress, message, post } from '../support/mcp.ts';
import { type Service, sampledEngines, startService } from '../support/service.ts';
import { hostileArguments, type ListedTool, type Usual } from './hostile/tools.ts';

/** Calls of each tool. */
const RUNS = 3;
const inside =
  /SQLITE_|no such (?:table|column)|node:internal|\bat [\w.]+ \((?:file|node|\/)|\.[jt]s:\d|\/src\/|\/tmp\/|relation \\*"|column \\*"|syntax error at/;
const { PROPERTY_RUNS = '1', PROPERTY_SEED } = process.env;

for (const engine of sampledEngines())
  describe(`hostile arguments of agent tools (${engine})`, () => {
    let service: Service;
    let tools: ListedTool[] = [];
    let usual: Usual = {};
    before(async () => {
      service = await startService({ engine });
      tools = (await post(mcpAddress(service), message('tools/list'))).body.result.tools;
      assert.equal(tools.length, 67);
      const ids: string[] = [];
      for (const [table, body] of [
        ['Accounts', { Name: 'Dana', PhoneNumber: '0501234567', Email: 'dana@example.com' }],
        ['Products', { Name: 'Chair', Price: 5 }],
        ['Tasks', { Name: 'Call' }],
      ] as const) {
        const made = await service.call('POST', `/platform/classes/${table}`, { body });
        ids.push(JSON.stringify(made.body.objectId));
      }
      const tables = ['"Accounts"', '"Tasks"', '"Hostile"', '"_User"', '"_Trigger"', '"Config"', '"Contacts"'];
      usual = {
        ...{
          table: tables,
          className: tables,
          tables,
          objectId: ids,
          accountId: ids,
          recordId: ids,
          userId: ids,
          productId: ids,
        },
        ...{ keys: ['"Name"'], field: ['"Name"', '"createdAt"', '"StatusId"'], order: ['"-createdAt"'], groupBy: ['"City"'] },
        where: ['{"Name":{"$regex":"^D"}}', '{}'],
        data: ['{"Name":"x"}'],
        fields: ['{"Name":"x"}'],
      };
    });
    after(() => service.stop());

    test('no tool answers with a fault', { timeout: 600_000 * Number(PROPERTY_RUNS) }, async () => {
      const seed = PROPERTY_SEED ? Number(PROPERTY_SEED) : randomInt(2 ** 31);
      const wrong = new Map<string, string>();
      for (const tool of tools)
        for (const args of fc.sample(hostileArguments(tool, usual), { seed, numRuns: RUNS * Number(PROPERTY_RUNS) })) {
          const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool.name}","arguments":${args}}}`;
          const { status, text } = await post(mcpAddress(service), body, masterHeaders(service));
          const described = text.replaceAll(/[^"]*"(?:data|value|content)[^,]*,/g, '');
          const isFault = status >= 500 || /"text":"server error/.test(text) || /"code":-3260[03]/.test(text);
          if (isFault || (inside.test(described) && !inside.test(args)))
            wrong.set(`${tool.name} ${text.slice(0, 60)}`, `${tool.name} ${args}\n  ${status} ${text.slice(0, 500)}`);
        }
      assert.equal(wrong.size, 0, `with PROPERTY_SEED=${seed}:\n${[...wrong.values()].slice(0, 40).join('\n')}`);
      assert.doesNotMatch(service.output(), /"level":(?:50|60)/);
    });
  });
