import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { parseJson } from '../../values/index.ts';
import { readInput } from './input.ts';

const read = async (type: string, body: string) => {
  const request = { method: 'POST', headers: { 'content-type': type }, body, url: '/' } as unknown as FastifyRequest;
  return (await readInput(request, 'app', (text, bounds) => parseJson(text, bounds, 'app'))).fields;
};
const object = (keys: number) => `{${Array.from({ length: keys }, (_, n) => `"k${n}":0`).join()}}`;

test('a body has a bound on its keys and values', async () => {
  const tooMany = { key: 'tooManyValues', status: 413 };
  assert.equal(Object.keys(await read('application/json', object(35_000))).length, 35_000);
  await assert.rejects(read('application/json', object(45_000)), tooMany);
  const numbers = (count: number) => `{"a":[${Array(count).fill('0').join()}]}`;
  assert.equal(((await read('application/json', numbers(190_000))).a as unknown[]).length, 190_000);
  await assert.rejects(read('application/json', numbers(210_000)), tooMany);
});
test('a form of many names is refused', async () => {
  const form = (names: number) => Array.from({ length: names }, (_, n) => `k${n}=%41`).join('&');
  assert.equal(Object.keys(await read('application/x-www-form-urlencoded', form(5_000))).length, 5_000);
  await assert.rejects(read('application/x-www-form-urlencoded', form(95_000)), { key: 'invalidJson' });
});
