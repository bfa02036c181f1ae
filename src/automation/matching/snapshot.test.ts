import assert from 'node:assert/strict';
import { test } from 'node:test';
import { master } from '../../access/index.ts';
import type { WriteEvent } from '../../records/index.ts';
import { newTable } from '../../schema/defaults.ts';
import { createdValues } from './trigger-observer.ts';

const at = Date.UTC(2026, 0, 1);
const event: WriteEvent = {
  event: 'create',
  table: newTable('Probes', 't_Probes'),
  objectId: 'probe00001',
  sent: {},
  assignments: new Map(),
  principal: master,
  flags: {} as WriteEvent['flags'],
  referer: null,
  cause: null,
  at,
};

test('what a create sets of its own: when and by whom, unless that is known from elsewhere', () => {
  const own = createdValues(event);
  assert.deepEqual([own.get('objectId'), own.get('createdAt'), own.get('updatedAt')], ['probe00001', at, at]);
  const known = { createdAt: Date.UTC(2019, 0, 1), createdBy: 'user000001' };
  const kept = createdValues({ ...event, known });
  assert.deepEqual(
    [kept.get('createdAt'), kept.get('createdBy'), kept.get('updatedAt'), kept.get('updatedBy')],
    [known.createdAt, known.createdBy, at, own.get('updatedBy')],
  );
});
