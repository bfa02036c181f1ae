/**
 * Reference: triggers.md#e-mail, mail.md#outgoing-mail. What a message is like, who gets it, and that nothing of a record adds to its
 * headers or recipients.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '../support/records.ts';
import { made, mailed, mails, runs, said } from './effects.ts';
import { onAnyEngine } from './world.ts';

describe('e-mail', () => {
  onAnyEngine((world) => {
    /** Makes a record that has a message sent; answers the message and its row. */
    const sent = async (action: object, record: Json, fields: Record<string, string> = {}) => {
      const table = await world.place({ Email: 'String', ...fields });
      await world.trigger({ table, events: ['create'], actions: [action] });
      await world.effects(() => world.create(table, record), made(table), mailed(), runs());
      const [mail, row] = [world.smtp().received.at(-1), (await world.find('Emails')).at(-1)];
      assert.ok(mail);
      return { mail, row };
    };

    test('several recipients, with names, between commas and semicolons; hidden ones are in no copy', async () => {
      const lists = { cc: '"כהן, דנה" <dana@example.com>', bcc: 'Hannah <hannah@example.com>' };
      const { mail, row } = await sent(mails('{{Email}}, B <b@example.com>; c@example.com', lists), { Email: 'a@example.com' });
      const everybody = ['a@example.com', 'b@example.com', 'c@example.com', 'dana@example.com', 'hannah@example.com'];
      assert.deepEqual(mail.to, everybody);
      assert.equal(mail.headers.get('to'), 'a@example.com, B <b@example.com>, c@example.com');
      assert.match(mail.headers.get('cc') ?? '', /כהן, דנה.*<dana@example\.com>$/);
      assert.doesNotMatch(mail.raw, /bcc:|hannah/i);
      assert.deepEqual([row.MailTo, row.CC, row.BCC], ['a@example.com, B <b@example.com>; c@example.com', lists.cc, lists.bcc]);
    });

    test('a value is one address beside those of the template, an Array one for each element; no name comes from a value', async () => {
      const to = 'sales@example.com, "{{Name}}" <{{Email}}>; {{Others}}';
      const { mail } = await sent(
        mails(to),
        { Name: 'CEO', Email: 'a@example.com', Others: ['b@example.com', 'c@example.com'] },
        { Others: 'Array' },
      );
      assert.equal(mail.headers.get('to'), 'sales@example.com, a@example.com, b@example.com, c@example.com');
      assert.deepEqual(mail.to, ['sales@example.com', 'a@example.com', 'b@example.com', 'c@example.com']);
    });

    test('Hebrew in subject, body and names arrives; plain text is made of the html', async () => {
      const name = 'דנה 👋 <b>';
      const html =
        '<div dir="rtl"><h1>שלום {{Name}}</h1><p>שורה<br>ועוד אחת, <a href="https://x.example/?q={{Name}}">כאן</a></p></div>';
      const { mail, row } = await sent(mails('{{Email}}', { subject: 'שלום {{Name}} · הודעה ארוכה '.repeat(5), html }), {
        Name: name,
        Email: 'a@example.com',
      });
      assert.equal(mail.subject, `שלום ${name} · הודעה ארוכה `.repeat(5).trim());
      assert.equal(mail.html.trim(), html.replaceAll('{{Name}}', 'דנה 👋 &lt;b&gt;'));
      assert.equal(mail.text.trim(), `שלום ${name}\n\nשורה\nועוד אחת, כאן (https://x.example/?q=${name})`);
      assert.deepEqual([row.Subject, row.Content], [mail.subject, mail.html.trim()]);
      assert.equal(mail.from, 'crm@example.com');
      assert.equal(row.MailFrom, 'crm@example.com');
    });

    test('values with quotes do not leave the attribute that they stand in', async () => {
      const html = `<a title="{{Name}}" href='/{{Name}}'>x</a>`;
      const { mail } = await sent(mails('a@example.com', { html }), { Name: `" onclick='x' y="<` });
      const escaped = '&quot; onclick=&#39;x&#39; y=&quot;&lt;';
      assert.equal(mail.html.trim(), `<a title="${escaped}" href='/${escaped}'>x</a>`);
    });

    test('a line break of a record in the subject or in a name adds no header', async () => {
      const Name = 'x\r\nBcc: evil@example.com\r\n\r\n<script>';
      const { mail, row } = await sent(mails('a@example.com', { subject: '{{Name}}' }), { Name });
      assert.equal(mail.subject, 'x Bcc: evil@example.com <script>');
      assert.equal(row.Subject, mail.subject);
      assert.deepEqual([mail.to, mail.headers.get('bcc')], [['a@example.com'], undefined]);
    });

    for (const list of ['to', 'cc', 'bcc'] as const)
      for (const Email of [
        'a@example.com\r\nBcc: evil@example.com',
        'a@example.com evil@example.com',
        'a@example.com>, <evil',
        'a@example.com, b@example.com',
        'a@example.com;b@example.com',
        '"N" <a@example.com>',
        'dana',
      ])
        test(`${JSON.stringify(Email)} in ${list}: nobody gets anything, the row and the log say why`, async () => {
          const table = await world.place({ Email: 'String' });
          const trigger = await world.trigger({
            table,
            events: ['create'],
            actions: [mails('b@example.com', { [list]: '{{Email}}' })],
          });
          await world.effects(() => world.create(table, { Email }), made(table), made('Emails'), runs(1, 0, 1));
          const row = (await world.find('Emails')).at(-1);
          assert.equal(row.SendStatus, 'failed');
          assert.match(row.ErrorMessage, /^".*" is not an e-mail address\.$/);
          assert.deepEqual((await world.log({ triggerId: trigger, actionId: { $exists: true } })).map(said), [row.ErrorMessage]);
        });

    test('the row belongs to the account of the record, and the timeline names the trigger', async () => {
      const account = await world.create('Accounts', { Name: 'a', Email: 'a@example.com' });
      const AccountId = { __type: 'Pointer', className: 'Accounts', objectId: account };
      const { row } = await sent(mails('{{AccountId.Email}}'), { AccountId }, { AccountId: 'Pointer:Accounts' });
      assert.deepEqual([row.AccountId, row.MailTo], [AccountId, 'a@example.com']);
      const told = await world.find('_Timeline', { objectClass: 'Emails', objectIdValue: row.objectId });
      assert.deepEqual(
        told.map(({ event, data, user }) => [event, typeof data?.updatedByTrigger, user.objectId]),
        [
          ['create', 'string', 'master'],
          ['update', 'string', 'master'],
        ],
      );
      const trigger = await world.trigger({ table: 'Accounts', events: ['update'], actions: [mails('{{Email}}')] });
      const change = () => world.call('PUT', `/platform/classes/Accounts/${account}`, { body: { City: 'Haifa' } });
      await world.effects(change, { 'update Accounts': 1 }, mailed(), runs());
      assert.deepEqual((await world.find('Emails')).at(-1).AccountId, AccountId, trigger);
    });
  });
});
