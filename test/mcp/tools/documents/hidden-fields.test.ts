/** Parts of an answer that the caller may not see are left out; the rest is returned. Reference: agents.md#answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { date, type Json, pointer } from '../../../support/records.ts';
import { newRole } from '../../../support/users.ts';
import { byUser, type Person } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { permit } from '../tables.ts';

onEachEngine('hidden fields of messages and campaigns', (tools) => {
  const { create, call } = tools;
  /** Runs `work` as a user from whom these fields of a table are hidden. */
  async function without(table: string, fields: readonly string[], work: (reader: Person) => Promise<void>): Promise<void> {
    const rules = (await call('GET', `/platform/schemas/${table}`)).body.classLevelPermissions;
    const { name } = await newRole(tools);
    const entity = `role:${name}`;
    await permit(tools, table, {
      ...rules,
      find: { ...rules.find, [entity]: true },
      protectedFields: { ...rules.protectedFields, [entity]: fields },
    });
    try {
      await work(await byUser(tools, [name, 'Sales']));
    } finally {
      await permit(tools, table, rules);
    }
  }

  test('Get-Campaign-Stats leaves out what is counted by hidden fields alone', async () => {
    const campaign = await create('Campaigns', { Name: 'Summer' });
    const rows = [
      { opened: true, clicked: true },
      { openedAt: date('2026-01-01T00:00:00Z') },
      { failed: true, Error: 'busy' },
      { delivered: true },
    ];
    for (const row of rows) await create('CampaignSentLog', { CampaignId: pointer('Campaigns', campaign), ...row });
    const hidden = ['openedAt', 'clicked', 'clickedAt', 'Error'];
    await without('CampaignSentLog', hidden, async (reader) => {
      const answer = await reader.use('Get-Campaign-Stats', { campaignId: campaign, errors: true });
      const [{ lastSent, campaign: named, ...stats }] = answer.results;
      assert.deepEqual(stats, {
        ...{ sent: 4, delivered: 1, opened: 1, failed: 1, unsubscribed: 0 },
        rates: { delivered: 0.25, opened: 1, failed: 0.25, unsubscribed: 0 },
      });
      assert.deepEqual([lastSent !== undefined, named.objectId], [true, campaign]);
      assert.deepEqual(answer.hidden, ['clicked', 'errors']);
    });
  });

  test('Get-Messages orders by createdAt where the time of a message is hidden', async () => {
    const accountId = await create('Accounts', { Name: 'Dana' });
    const sms = (Content: string, SendAt: string) =>
      create('SMS', { Content, SendAt: date(SendAt), AccountId: pointer('Accounts', accountId) });
    await sms('first', '2026-01-02T00:00:00Z');
    await sms('second', '2026-01-01T00:00:00Z');
    const texts = ({ results }: Json) => results.map(({ text }: Json) => text);
    const args = { accountId, channel: 'sms' };
    await without('SMS', ['SendAt'], async (reader) => {
      const page = await reader.use('Get-Messages', args);
      assert.deepEqual([texts(page), page.hidden], [['second', 'first'], undefined]);
    });
    assert.deepEqual(texts(await tools.use('Get-Messages', args)), ['first', 'second']);
  });
});
