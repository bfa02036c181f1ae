import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { limits } from '../../kernel/limits.ts';
import { LongBodies, maxValuesInMemory } from './long-bodies.ts';

const MIB = 1024 * 1024;

test('values of bodies take a quarter of a small heap, and two of the largest bodies in a large one', () => {
  for (const heap of [400, 512, 1_000].map((mib) => mib * MIB)) {
    const { all, ofSystem, ofCaller } = maxValuesInMemory(heap);
    assert.ok(all * 100 <= heap / 4, `${all}`);
    assert.deepEqual([ofSystem / all, ofCaller / all], [0.75, 0.5]);
  }
  assert.equal(maxValuesInMemory(64 * MIB).all, 2 * limits.jsonMarksAtOnce);
  assert.equal(maxValuesInMemory(16_000 * MIB).all, 2 * limits.jsonMarks);
});

test('one text of the maximum size is parsed of an address, and two in all, until they are answered', async () => {
  const bodies = new LongBodies({ systems: { isKnown: () => true } as never });
  const text = `"${'a'.repeat(limits.bodyBytes - 2)}"`;
  const parsed: string[] = [];
  const send = (name: string, ip: string, appId: string) => {
    const raw = new EventEmitter();
    const request = { ip, params: null, headers: { 'x-platform-application-id': appId } };
    const done = bodies.read(request as unknown as FastifyRequest, { raw } as unknown as FastifyReply, text);
    return { raw, done: done.then(() => parsed.push(name)) };
  };
  const sent = [send('a1', '10.0.0.1', 'a'), send('a2', '10.0.0.1', 'a'), send('b', '10.0.0.2', 'b'), send('c', '10.0.0.3', 'c')];
  while (parsed.length < 2) await wait(5);
  await wait(50);
  assert.equal(parsed.length, 2);
  assert.notDeepEqual(parsed.toSorted(), ['a1', 'a2']);
  for (const { raw } of sent) raw.emit('close');
  await Promise.all(sent.map(({ done }) => done));
});
