/** Test-Trigger reads with the caller's rights, so criteria reveal nothing that the caller may not see. Reference: tools.md#test-trigger. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pointer } from '../../../support/records.ts';
import { byUser, openAdvanced } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { permit } from '../tables.ts';

const admin = { 'role:Admin': true };
const nobody = { nobody: { read: true } };

onEachEngine('criteria in previews', (tools) => {
  const { table, create, use } = tools;

  test('sub-queries do not count records that the caller may not see', async (t) => {
    const members = await table({ Name: 'String', Members: { type: 'Relation', targetClass: 'Accounts' } });
    await permit(tools, members, { find: admin, get: admin });
    const own = await table({ Name: 'String', AccountId: { type: 'Pointer', targetClass: 'Accounts' } });
    await permit(tools, own, { find: admin, get: admin, update: admin });
    const hidden = await create('Accounts', { Name: 'Zsecret', ACL: nobody });
    const objectId = await create(own, { Name: 'Zsecret', AccountId: pointer('Accounts', hidden) });
    await openAdvanced(t, tools);
    const person = await byUser(tools, ['Admin']);
    const meets = async (criteria: object, who: Pick<typeof tools, 'use'>) => {
      const { triggerId } = await use('Set-Trigger', { className: own, event: 'update', active: false, actions: [], criteria });
      const { meetsCriteria, error } = await who.use('Test-Trigger', { triggerId, objectId });
      return { meetsCriteria, error };
    };
    const inAccounts = { where: { Name: { $regex: '^Z' } }, className: 'Accounts' };
    const cases: [object, ofKey: boolean, ofUser: boolean][] = [
      [{ AccountId: { $inQuery: inAccounts } }, true, false],
      [{ AccountId: { $notInQuery: inAccounts } }, false, true],
      [{ Name: { $select: { query: inAccounts, key: 'Name' } } }, true, false],
      [{ Name: { $dontSelect: { query: inAccounts, key: 'Name' } } }, false, true],
      [{ Name: 'Zsecret' }, true, true],
      [{}, true, true],
    ];
    for (const [criteria, ofKey, ofUser] of cases) {
      assert.deepEqual(await meets(criteria, tools), { meetsCriteria: ofKey, error: undefined }, JSON.stringify(criteria));
      assert.deepEqual(await meets(criteria, person), { meetsCriteria: ofUser, error: undefined }, JSON.stringify(criteria));
    }
  });

  test('a trigger whose author is gone, or may not read the record, would not fire', async (t) => {
    const own = await table({ Name: 'String' });
    await permit(tools, own, { find: admin, get: admin, update: admin });
    const [open, closed] = [await create(own, { Name: 'x' }), await create(own, { Name: 'y', ACL: nobody })];
    await openAdvanced(t, tools);
    const author = await byUser(tools, ['Admin']);
    const order = { className: own, event: 'update', active: true, actions: [] };
    const { triggerId } = await author.use('Set-Trigger', order);
    const reported = async (objectId: string) => {
      const { wouldFire, meetsCriteria, obstacle = null, notes } = await use('Test-Trigger', { triggerId, objectId });
      assert.match(notes[0], /acts with the rights of the user who defined it/);
      return [wouldFire, meetsCriteria, obstacle];
    };
    assert.deepEqual(await reported(open), [true, true, null]);
    assert.deepEqual(await reported(closed), [false, true, 'The user who defined the trigger may not read the record.']);
    await tools.update('_User', author.id, { active: false });
    assert.deepEqual(await reported(open), [false, true, 'The user who defined the trigger is gone or not active.']);
    const { triggerId: ofKey } = await use('Set-Trigger', order);
    const { wouldFire, notes } = await use('Test-Trigger', { triggerId: ofKey, objectId: closed });
    assert.equal(wouldFire, true);
    assert.match(notes[0], /sees all/);
  });

  test('what all actions would come to together is bounded, and what is reported of each is short', async (t) => {
    const own = await table({ Note: 'String' });
    const objectId = await create(own, { Note: '<'.repeat(1_000_000) });
    await openAdvanced(t, tools);
    const html = '{{Note}}'.repeat(2);
    const actions = Array.from({ length: 10 }, () => ({
      type: 'e-mail',
      actionData: { to: 'a@example.com', subject: 's', html },
    }));
    const { triggerId } = await use('Set-Trigger', { className: own, event: 'update', active: false, actions });
    const { actions: reported } = await use('Test-Trigger', { triggerId, objectId });
    // Each `<` becomes four characters of HTML, so two actions reach 16 million.
    assert.deepEqual(
      reported.map(({ does, wouldFail }: { does?: { html: string }; wouldFail?: string }) =>
        does ? does.html.length < 3_000 : wouldFail,
      ),
      [true, true, ...Array(8).fill('The templates come to more than 20971520 characters.')],
    );
  });

  test('criteria on what is hidden cannot be previewed: the field, or a table without permission', async (t) => {
    const closed = await table({ Name: 'String' });
    const secret = await create(closed, { Name: 'x' });
    const own = await table({ Hid: 'Number', Of: { type: 'Pointer', targetClass: closed } });
    await permit(tools, own, { find: admin, get: admin, protectedFields: { 'role:Admin': ['Hid'] } });
    const objectId = await create(own, { Hid: 9, Of: pointer(closed, secret) });
    await openAdvanced(t, tools);
    const person = await byUser(tools, ['Admin']);
    const cases: [object, RegExp][] = [
      [{ Hid: { $gt: 3 } }, new RegExp(`not allowed to access Hid on class ${own}`)],
      [
        { Of: { $inQuery: { where: {}, className: closed } } },
        new RegExp(`Permission denied for action find on class ${closed}`),
      ],
    ];
    for (const [criteria, words] of cases) {
      const { triggerId } = await use('Set-Trigger', { className: own, event: 'update', active: true, actions: [], criteria });
      const seen = await person.use('Test-Trigger', { triggerId, objectId });
      assert.deepEqual([seen.wouldFire, seen.meetsCriteria], [false, null]);
      assert.match(seen.error, words);
      assert.equal((await use('Test-Trigger', { triggerId, objectId })).wouldFire, true);
    }
  });
});
