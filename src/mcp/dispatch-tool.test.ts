import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { master } from '../access/index.ts';
import type { ToolResult } from './definition/answer.ts';
import { defineTool, type Tool } from './definition/tool.ts';
import { type CallScope, callTool, ToolRegistry } from './dispatch-tool.ts';

for (const [effect, answered] of [
  ['read', { code: 124 }],
  ['add', { code: 1, inDoubt: true }],
] as const)
  test(`a call that takes too long is given up, and may have written; its system stays open until it has ended: ${effect}`, async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      let held = 0;
      let end = () => {};
      let signal: AbortSignal | undefined;
      const slow: Tool = defineTool({
        ...{ name: 'Slow', group: 'records', description: 'Slow', input: {}, needs: ['mcp:view'], effect, about: 'T' },
        run: (call) => {
          signal = call.signal;
          return new Promise((resolve) => (end = () => resolve(null)));
        },
      });
      const noted: number[] = [];
      const scope = {
        services: { conditions: { met: () => assert.fail('nothing is wrong') } },
        caller: { contextOf: () => ({}) },
        system: { appId: 'app', store: {}, hold: () => held++, release: () => held-- },
        principal: master,
        tools: new ToolRegistry([slow]).select(undefined),
        gone: new AbortController().signal,
        log: (_tool: Tool, _principal: unknown, status: number) => noted.push(status),
      } as unknown as CallScope;
      const called = callTool(scope, 'Slow', {});
      mock.timers.tick(59_999);
      assert.equal(signal?.aborted, false);
      mock.timers.tick(1);
      const { isError, structuredContent } = (await called) as ToolResult;
      const { code, inDoubt } = structuredContent as { code: number; inDoubt?: true };
      assert.deepEqual([isError, { code, ...(inDoubt && { inDoubt }) }], [true, answered]);
      assert.deepEqual([signal?.aborted, noted, held], [true, effect === 'read' ? [] : [503], 1]);
      end();
      await new Promise(setImmediate);
      assert.equal(held, 0);
    } finally {
      mock.timers.reset();
    }
  });

test('groups of tools: those that are named, all where none is known', () => {
  const tool = (name: string, group: Tool['group']) =>
    defineTool({ name, group, description: name, input: {}, needs: [], effect: 'read', run: async () => null });
  const catalogue = new ToolRegistry([tool('A', 'records'), tool('B', 'crm'), tool('C', 'records')]);
  const names = (toolsets?: string) => [...catalogue.select(toolsets).byName.keys()];
  assert.deepEqual(names(), ['A', 'B', 'C']);
  assert.deepEqual(names('records'), ['A', 'C']);
  assert.deepEqual(names(' CRM ,nothing'), ['B']);
  assert.deepEqual(names('crm,records'), ['A', 'B', 'C']);
  assert.deepEqual(names('site'), []);
  for (const none of ['', ',', 'nothing', '__proto__', 'constructor']) assert.deepEqual(names(none), ['A', 'B', 'C']);
  assert.equal(catalogue.select('records,crm'), catalogue.select('crm, records'));
});
