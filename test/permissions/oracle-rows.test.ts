/**
 * Hidden records have no effect on any answer: each request is repeated with other hidden records and must return the same bytes.
 * Reference: permissions.md#acl.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Caller, forAll, makeTable, newCaller, type Rules } from '../support/permissions.ts';
import { type Json, pointer } from '../support/records.ts';
import { engines, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { makeRole } from '../support/users.ts';
import { hiddenIn, type Question, questionsOf, visibleIn } from './questions.ts';
import { createAll, runsOn } from './world.ts';

/** Ways to hide records: permissions of the table, values of visible records, and values of hidden ones. */
const ways: Record<string, (caller: Caller, other: Caller) => { rules: Rules; seen: Json; unseen: Json }> = {
  'an ACL': (_caller, other) => ({
    rules: forAll({ 'role:Readers': true }),
    seen: {},
    unseen: { ACL: { [other.id]: { read: true, write: true } } },
  }),
  'an ACL that names the caller without rights': (caller) => ({
    rules: forAll({ requiresAuthentication: true }),
    seen: { ACL: { 'role:Readers': { read: true } } },
    unseen: { ACL: { [caller.id]: {} } },
  }),
  pointerFields: (caller, other) => ({
    rules: forAll({ pointerFields: ['owner'] }),
    seen: { owner: pointer('_User', caller.id) },
    unseen: { owner: pointer('_User', other.id) },
  }),
  'readUserFields and writeUserFields': (caller) => ({
    rules: { readUserFields: ['watchers'], writeUserFields: ['watchers'] },
    seen: { watchers: [pointer('_User', caller.id)] },
    unseen: {},
  }),
};

for (const engine of engines)
  describe(engine, () => {
    let service: Service | undefined;
    let caller: Caller;
    let other: Caller;
    before(async () => {
      service = await sharedService(engine);
      caller = await newCaller(service, ['Readers']);
      other = await newCaller(service);
      await makeRole(service, 'Readers', [caller.id]);
    });

    for (const [at, [way, by]] of Object.entries(ways).entries()) {
      if (!runsOn(engine, at)) continue;
      test(`no answer reveals records that are hidden by ${way}`, async () => {
        assert.ok(service);
        const { rules, seen, unseen } = by(caller, other);
        const [T, R] = [`Docs${at}`, `Refs${at}`];
        await makeTables(service, T, R, rules);
        await createAll(
          service,
          T,
          visibleIn(T).map((row, n) => ({ objectId: `seen${n + 1}`, ...row, ...seen })),
        );
        const questions = questionsOf(T, R);
        const ask = () => Promise.all(questions.map((question) => answerTo(service as Service, caller, question)));
        const total = async () =>
          (await service?.call('GET', `/platform/classes/${T}`, { query: { count: 1, limit: 0 } }))?.body.count;
        const alone = await ask();
        const failed = alone.flatMap((answer, n) => (answer.startsWith('200') ? [] : [questions[n]?.path]));
        assert.ok(new Set(failed).size <= 2, `what is not there is asked for in two paths: ${failed}`);

        let made = 0;
        for (const rows of hiddenIn(T)) {
          const bodies = rows.map((row) => ({ objectId: `hidden${++made}`, ...row, ...unseen }));
          await createAll(service, T, bodies);
          assert.equal(await total(), visibleIn(T).length + made);
          const again = await ask();
          again.forEach((answer, n) => void assert.equal(answer, alone[n], JSON.stringify(questions[n])));
        }
        assert.equal(await total(), visibleIn(T).length + made, 'writes of hidden records changed nothing');
        const { body } = await service.call('GET', `/platform/classes/${T}/hidden1`);
        assert.deepEqual([body.title, body.n, body.updatedBy.objectId], ['alpha beta', 1, 'master']);
      });
    }
  });

async function makeTables(service: Service, T: string, R: string, rules: Rules): Promise<void> {
  const fields = {
    ...{ title: 'String', n: 'Number', flag: 'Boolean', day: 'Date', tags: 'Array', o: 'Object', link: `Pointer:${T}` },
    ...{ rel: `Relation:${T}`, owner: 'Pointer:_User', watchers: 'Array' },
  };
  await makeTable(service, T, fields, rules);
  await service.call('PUT', `/platform/schemas/${T}`, { body: { textIndex: ['title'] } });
  const refs = { title: 'String', to: `Pointer:${T}`, list: 'Array', rel: `Relation:${T}` };
  await makeTable(service, R, refs, forAll({ requiresAuthentication: true }, ['find', 'get']));
  const targets = ['seen1', 'seen2', 'hidden1', 'hidden2', 'never'].map((id) => pointer(T, id));
  await createAll(
    service,
    R,
    targets.map((to, n) => {
      const list = [to, pointer(T, 'hidden1')];
      return { objectId: `ref${n}`, title: 'secret', to, list, rel: { __op: 'AddRelation', objects: list } };
    }),
  );
}

async function answerTo(service: Service, caller: Caller, { method, path, query = {}, body }: Question): Promise<string> {
  const { status, text: answer } = await service.call(method, path, { ...caller.options, query, body });
  return `${status} ${answer}`;
}
