/** Which tools are listed, with which arguments and annotations. Reference: tools.md, agents.md#tool-rights. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { encode } from 'gpt-tokenizer';
import { rpc } from '../../support/mcp.ts';
import type { Json } from '../../support/records.ts';
import type { Service } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';
import { samples } from '../samples/index.ts';
import { type Effect, listed, requiredTools } from '../samples/listed.ts';

let service: Service;
let tools: Json[];
before(async () => {
  service = await sharedService('sqlite');
  tools = (await rpc(service, {}, 'tools/list')).body.result.tools;
});

const toolNamed = (name: string): Json => tools.find((tool) => tool.name === name) ?? assert.fail(`${name} is not listed`);

test('the 67 tools, each once, those that the interface names among them', () => {
  const names = listed.map(([name]) => name);
  assert.equal(names.length, 67);
  assert.deepEqual(tools.map(({ name }) => name).sort(), names.toSorted());
  assert.equal(new Set(names).size, 67);
  for (const name of requiredTools) assert.ok(names.includes(name), name);
  assert.equal(requiredTools.length, 14);
  assert.deepEqual([...samples.keys()].sort(), names.toSorted());
});

test('the list is shorter than 9,000 tokens, what the protocol adds included', () => {
  const short = tools.map(({ name, description, inputSchema, annotations }) => ({ name, description, inputSchema, annotations }));
  for (const list of [short, tools]) {
    const tokens = encode(JSON.stringify(list)).length;
    assert.ok(tokens < 9_000, `${tokens} tokens`);
  }
});

const hintsOf = (effect: Effect) => {
  const [kind, ...more] = effect.split(' ');
  if (kind === 'read') return { readOnlyHint: true, openWorldHint: false };
  return {
    readOnlyHint: false,
    destructiveHint: kind === 'change',
    idempotentHint: more.includes('same'),
    openWorldHint: !more.includes('own'),
  };
};

test('annotations say what a tool does', () => {
  for (const [name, , effect] of listed) {
    const { title: _title, ...annotations } = toolNamed(name).annotations;
    assert.deepEqual(annotations, hintsOf(effect), name);
  }
  const count = (effect: RegExp) => listed.filter(([, , one]) => effect.test(one)).length;
  assert.deepEqual([count(/^read/), listed.filter(([, tier]) => tier === 'advanced').length], [35, 17]);
});

test('no tool deletes: neither by its name nor by an argument', () => {
  for (const { name, inputSchema } of tools) {
    assert.doesNotMatch(name, /delete|remove|drop|purge|destroy|clear/i);
    for (const argument of Object.keys(inputSchema.properties ?? {})) assert.doesNotMatch(argument, /delete|remove|drop/i, name);
  }
});

/** Parses `table:s! limit:i=5` into the expected schema of each parameter. */
const parametersOf = (text: string) =>
  text
    .split(' ')
    .filter((one) => one !== '')
    .map((one) => {
      const [, name = '', form = '', isRequired, usual] = /^(\w+):(.+?)(!)?(?:=(\d+))?$/.exec(one) ?? [];
      return { name, form, isRequired: isRequired !== undefined, ...(usual !== undefined && { usual: Number(usual) }) };
    });

const types: Readonly<Record<string, string>> = {
  ...{ s: 'string', id: 'string', hex: 'string', d: 'string', i: 'integer', b: 'boolean', o: 'object' },
};

function assertForm(schema: Json, form: string, place: string): void {
  const choices = /^e\((.*)\)$/.exec(form)?.[1];
  if (choices !== undefined) {
    assert.deepEqual(schema.enum, choices.split('|'), place);
    return;
  }
  const item = /^(\w+)\[\]$/.exec(form)?.[1];
  assert.equal(schema.type, item === undefined ? types[form] : 'array', place);
  if (item !== undefined) assert.equal(schema.items?.type, types[item], place);
  if (form === 'hex') assert.match('0123456789abcdef01234567', new RegExp(schema.pattern), place);
}

test('arguments are those of the interface, with their types, and no others', () => {
  for (const [name, , , text] of listed) {
    const { inputSchema } = toolNamed(name);
    const parameters = parametersOf(text);
    assert.deepEqual(
      Object.keys(inputSchema.properties ?? {}),
      parameters.map((one) => one.name),
      name,
    );
    const required = parameters.filter(({ isRequired }) => isRequired).map((one) => one.name);
    assert.deepEqual((inputSchema.required ?? []).toSorted(), required.toSorted(), name);
    for (const { name: argument, form, usual } of parameters) {
      const place = `${name} ${argument}`;
      assertForm(inputSchema.properties[argument], form, place);
      if (usual !== undefined) assert.equal(inputSchema.properties[argument].default, usual, place);
    }
  }
});

test('input schemas are JSON Schema, and closed', () => {
  const ajv = new Ajv2020({ strict: true, formats: fullFormats });
  for (const { name, description, inputSchema } of tools) {
    assert.ok(description.length > 10, name);
    assert.deepEqual([inputSchema.type, inputSchema.additionalProperties], ['object', false], name);
    const isValid = ajv.compile(inputSchema);
    assert.equal(isValid({ nothingOfTheKind: 1 }), false, name);
  }
});

test('an unknown argument is refused by every tool', async () => {
  for (const [name] of listed) {
    const headers = { 'X-Platform-API-Key': service.apiKey };
    const { body } = await rpc(service, headers, 'tools/call', { name, arguments: { nothingOfTheKind: 1 } });
    assert.equal(body.result.isError, true, name);
    assert.equal(body.result.structuredContent.code, 107, name);
  }
});
