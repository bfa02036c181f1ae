import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as library from 'record-data-service';
import { z } from 'zod';
import * as sources from '../../src/index.ts';

test('the package exports what functions import, under its own name', () => {
  assert.equal(library.defineFunction, sources.defineFunction);
  assert.equal(library.z, z);
});

test('a definition is what it was; types follow from its input', () => {
  const run = async ({ input }: sources.FunctionContext<{ count: number }>) => input.count + 1;
  assert.equal(sources.defineFunction(run), run);
  const typed = sources.defineFunction({
    input: z.object({ count: z.coerce.number(), name: z.string().optional() }),
    run: ({ input }) => {
      const count: number = input.count;
      // @ts-expect-error: it may be left out
      const name: string = input.name;
      return [count, name] as const;
    },
  });
  const definition: sources.FunctionDefinition<{ count: number; name?: string | undefined }, readonly [number, string]> = typed;
  assert.equal(typeof definition.run, 'function');
  const json = { input: { type: 'object' }, run: ({ input }: sources.FunctionContext) => input.anything ?? null };
  assert.equal(sources.defineFunction(json), json);
});
