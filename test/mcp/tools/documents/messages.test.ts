/** Reference: tools.md#get-messages, tools.md#get-campaign-stats. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { date, type Json, pointer } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { byKey, byUser } from '../callers.ts';
import { replaceField } from '../restored.ts';
import { useSecondStore } from '../second.ts';
import { permit } from '../tables.ts';

const day = (n: number): string => `2026-01-${String(n).padStart(2, '0')}T10:00:00.000Z`;

for (const engine of sampledEngines())
  describe(`tools of messages on ${engine}`, () => {
    const store = useSecondStore(engine);
    const { use, refused } = byKey(store);
    let account: string;
    let conversation: string;

    before(async () => {
      account = await store.create('Accounts', { Name: 'Dana' });
      const of = { AccountId: pointer('Accounts', account) };
      const { results: types } = (await store.call('GET', '/platform/classes/ChannelTypes')).body;
      const channel = async (code: string) => {
        const type = types.find(({ Code }: Json) => Code === code);
        const id = await store.create('Channels', { Name: code, TypeId: pointer('ChannelTypes', type.objectId) });
        return { ChannelId: pointer('Channels', id) };
      };
      conversation = await store.create('Conversations', { Identity: '972501234567', ...of, ...(await channel('whatsapp')) });
      const site = await store.create('Conversations', { Identity: 'visitor', ...(await channel('chat')) });
      const whatsapp = { ConversationId: pointer('Conversations', conversation) };
      const messages = [
        { ...whatsapp, Message: 'hi', Direction: 'in', SentAt: date(day(1)) },
        { ...whatsapp, Message: 'x'.repeat(600), Direction: 'Outgoing', SentAt: date(day(5)), delivered: true },
        { ...whatsapp, Message: 'lost', Direction: 'out', SentAt: date(day(6)), failed: true, errors: [{ code: 131 }] },
        { ConversationId: pointer('Conversations', site), Message: 'web', Direction: 'in', SentAt: date(day(7)) },
      ];
      for (const message of messages) await store.create('ConversationMessages', message);
      const mail = { ...of, MailFrom: 'a@b.test', MailTo: 'dana@b.test', SendStatus: 'sent' };
      const html = '<style>p{}</style><p>Good <b>day</b></p>';
      await store.create('Emails', { ...mail, Subject: 'Offer', Content: html, SendAt: date(day(4)) });
      const failed = { SendStatus: 'failed', ErrorMessage: '550 no such user' };
      await store.create('Emails', { ...mail, Subject: 'Bad', SendAt: date(day(2)), ...failed });
      await store.create('SMS', {
        ...of,
        From: 'Biz',
        To: '0501234567',
        Content: 'code',
        Status: 'Undelivered',
        SendAt: date(day(3)),
      });
      // It has no time field, so its creation time makes it the newest.
      await store.create('SMS', { ...of, From: 'Biz', To: '0501234567', Content: 'now', Status: 'sent' });
      const phoned = {
        caller: '0501234567',
        destination: '03',
        type: 'inbound',
        status: 'answered',
        duration: 65,
        time: date(day(8)),
      };
      await store.create('CallRecords', { ...of, ...phoned });
    });

    const texts = ({ results }: Json) =>
      results.map(
        ({ channel, subject, text, failed }: Json) => `${channel}:${subject ?? text?.slice(0, 5) ?? ''}${failed ? '!' : ''}`,
      );
    const all = [
      ...['sms:now', 'call:', 'chat:web', 'whatsapp:lost!', 'whatsapp:xxxxx', 'email:Offer', 'sms:code!', 'email:Bad!'],
      'whatsapp:hi',
    ];

    test('all channels are merged, newest first, in one form', async () => {
      const page = await use('Get-Messages');
      assert.deepEqual(texts(page), all);
      const [, call, , lost, long, offer, , bad, hi] = page.results;
      assert.deepEqual(
        [call.direction, call.from, call.to, call.duration, call.status],
        ['in', '0501234567', '03', 65, 'answered'],
      );
      assert.deepEqual([lost.status, lost.error, lost.direction, lost.to], ['failed', '[{"code":131}]', 'out', '972501234567']);
      assert.deepEqual([long.text.length, long.status, long.direction], [501, 'delivered', 'out']);
      assert.deepEqual([offer.text, offer.to, offer.status, offer.at], ['Good day', 'dana@b.test', 'sent', day(4)]);
      assert.deepEqual([bad.error, bad.status], ['550 no such user', 'failed']);
      assert.deepEqual([hi.from, hi.conversationId], ['972501234567', conversation]);
      assert.equal(hi.record.className, 'ConversationMessages');
      const record = await store.read(hi.record.className, hi.record.objectId);
      assert.equal(record.Message, 'hi');
    });

    const found: [string, () => object, readonly string[]][] = [
      ['an account', () => ({ accountId: account }), all.filter((text) => text !== 'chat:web')],
      ['a conversation', () => ({ conversationId: conversation }), all.filter((text) => text.startsWith('whatsapp'))],
      ['whatsapp', () => ({ channel: 'whatsapp' }), all.filter((text) => text.startsWith('whatsapp'))],
      ['chat', () => ({ channel: 'chat' }), ['chat:web']],
      ['sms', () => ({ channel: 'sms' }), ['sms:now', 'sms:code!']],
      ['email', () => ({ channel: 'email' }), ['email:Offer', 'email:Bad!']],
      ['calls', () => ({ channel: 'call' }), ['call:']],
      ['failures', () => ({ failedOnly: true }), ['whatsapp:lost!', 'sms:code!', 'email:Bad!']],
      ['a range', () => ({ from: day(2), to: day(4) }), ['email:Offer', 'sms:code!', 'email:Bad!']],
      ['from a time', () => ({ from: '2026-02-01' }), ['sms:now']],
      ['nobody', () => ({ accountId: 'nobodynobo' }), []],
    ];
    for (const [what, args, expected] of found)
      test(`they are found by ${what}`, async () => assert.deepEqual(texts(await use('Get-Messages', args())), expected));

    test('pages are stable', async () => {
      const seen: string[] = [];
      let skip: number | undefined = 0;
      while (skip !== undefined) {
        const page: Json = await use('Get-Messages', { limit: 2, skip });
        seen.push(...texts(page));
        skip = page.nextSkip;
      }
      assert.deepEqual(seen, all);
      await refused('Get-Messages', { skip: 2_001 }, 107, /skip must be at most 2000/);
      await refused('Get-Messages', { limit: 101 }, 107, /at most 100/);
      await refused('Get-Messages', { channel: 'fax' }, 107, /must be one of whatsapp/);
    });

    test('what a user may not see is left out and reported', async () => {
      const sales = await byUser(store, ['Sales']);
      assert.deepEqual(texts(await sales.use('Get-Messages')), all);
      const rules = (await store.call('GET', '/platform/schemas/Emails')).body.classLevelPermissions;
      await store.call('PUT', '/platform/schemas/Emails', { body: { classLevelPermissions: { ...rules, find: {} } } });
      try {
        const page = await sales.use('Get-Messages');
        assert.deepEqual([texts(page), page.hidden], [all.filter((text) => !text.startsWith('email')), ['Emails']]);
        assert.deepEqual(await sales.use('Get-Messages', { channel: 'email' }), { results: [], hidden: ['Emails'] });
      } finally {
        await store.call('PUT', '/platform/schemas/Emails', { body: { classLevelPermissions: rules } });
      }
      const nobody = await byUser(store, []);
      await nobody.refused('Get-Messages', {}, 119, /^Permission denied for action find on class/);
      await (await byUser(store, ['Sales'], ['mcp:create'])).refused('Get-Messages', {}, 119, /mcp:view is not given/);
    });

    test('campaigns have counts, rates and top errors', async (t) => {
      const campaign = await store.create('Campaigns', { Name: 'Summer' });
      const other = await store.create('Campaigns', { Name: 'Winter' });
      const of = (id: string) => ({ CampaignId: pointer('Campaigns', id) });
      const rows = [
        { delivered: true, opened: true, clicked: true },
        { delivered: true, openedAt: date(day(1)) },
        { deliveredAt: date(day(1)), unsubscribed: true },
        { delivered: true },
        { failed: true, Error: 'no such user' },
        { failed: true, Error: 'no such user' },
        { failed: true, Error: 'busy' },
        { failed: false },
      ];
      for (const row of rows) await store.create('CampaignSentLog', { ...of(campaign), ...row });
      await store.create('CampaignSentLog', { ...of(other), delivered: true });
      const { results } = await use('Get-Campaign-Stats', { campaignId: campaign, errors: true });
      const [{ lastSent, ...stats }] = results;
      assert.match(lastSent, /^20/);
      assert.deepEqual(stats, {
        campaign: { objectId: campaign, Name: 'Summer' },
        ...{ sent: 8, delivered: 4, opened: 2, clicked: 1, failed: 3, unsubscribed: 1 },
        rates: { delivered: 0.5, failed: 0.375, opened: 0.5, clicked: 0.25, unsubscribed: 0.25 },
        errors: [
          { error: 'no such user', count: 2 },
          { error: 'busy', count: 1 },
        ],
      });
      const both = await use('Get-Campaign-Stats');
      assert.deepEqual(
        both.results.map(({ campaign: one, sent }: Json) => [one.Name, sent]),
        [
          ['Winter', 1],
          ['Summer', 8],
        ],
      );
      const one = await use('Get-Campaign-Stats', { limit: 1 });
      assert.deepEqual([one.results.length, one.truncated], [1, true]);
      assert.deepEqual((await use('Get-Campaign-Stats', { to: day(1) })).results, []);
      const unsent = await store.create('Campaigns', { Name: 'None' });
      assert.deepEqual((await use('Get-Campaign-Stats', { campaignId: unsent })).results[0].sent, 0);
      await refused('Get-Campaign-Stats', { campaignId: 'nobodynobo' }, 101);

      const sales = await byUser(store, ['Sales']);
      assert.equal((await sales.use('Get-Campaign-Stats', { campaignId: campaign })).results[0].sent, 8);
      const rules = (await store.call('GET', '/platform/schemas/Campaigns')).body.classLevelPermissions;
      t.after(() => permit(store, 'Campaigns', rules));
      await permit(store, 'Campaigns', { ...rules, find: {}, get: {} });
      const seen = await sales.use('Get-Campaign-Stats', { campaignId: campaign });
      assert.deepEqual([seen.results[0].campaign, seen.hidden], [{ objectId: campaign }, ['Campaigns']]);
      const nobody = await byUser(store, []);
      await nobody.refused('Get-Campaign-Stats', {}, 119, /^Permission denied for action find on class CampaignSentLog/);
    });

    test('a system that has not the tables or fields says so', async (t) => {
      await replaceField(t, store, 'SMS', 'AccountId');
      const page = await use('Get-Messages', { accountId: account });
      assert.deepEqual(page.missing, ['SMS.AccountId']);
      assert.equal(page.results.length, 6);
      await replaceField(t, store, 'CallRecords', 'AccountId');
      await refused('Get-Messages', { accountId: account, channel: 'call' }, 107, /CallRecords.AccountId/);
    });
  });
