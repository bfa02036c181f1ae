/** Reference: triggers.md#templates. A value that is one template alone is typed, a text is text, `html` is escaped, absent values are not written. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { date, type Json, pointer } from '../support/records.ts';
import { signUp, type User, userPointer } from '../support/users.ts';
import { creates, made, mailed, mails, notified, notifies, runs, said, updates } from './effects.ts';
import { onAnyEngine, type World } from './world.ts';

/** Of the record that fires. */
const types = {
  ...{ n: 'Number', zero: 'Number', is: 'Boolean', at: 'Date', o: 'Object', list: 'Array', none: 'String', html: 'HTML/XML' },
  ...{ P: 'Pointer:Tags', empty: 'Pointer:Tags', gone: 'Pointer:Tags', Owner: 'Pointer:_User' },
};
const tags = [pointer('Tags', 'tag0000001'), pointer('Tags', 'tag0000002')];

interface Seat {
  world: World;
  table: string;
  heard: string;
  record: Json;
}

/** A template, the type of the field that it is written to, and the value there; undefined: none. */
const values = ({ record, table }: Pick<Seat, 'record' | 'table'>): readonly [Json, string, unknown][] => [
  ['{{Name}}', 'String', 'דנה "שם" <b>'],
  ['{{ Name }}', 'String', 'דנה "שם" <b>'],
  ['{{n}}', 'Number', -1.5],
  ['{{zero}}', 'Number', 0],
  ['{{is}}', 'Boolean', false],
  ['{{at}}', 'Date', record.at],
  ['{{P}}', 'Pointer:Tags', record.P],
  ['{{list}}', 'Array', record.list],
  ['{{o}}', 'Object', record.o],
  ['{{o.a}}', 'Number', 1],
  ['{{o.deep.text}}', 'String', 'עומק'],
  ['{{o.deep}}', 'Object', { text: 'עומק' }],
  ['{{o.missing}}', 'String', undefined],
  ['{{none}}', 'String', undefined],
  ['{{noSuchField}}', 'String', undefined],
  ['{{empty}}', 'Pointer:Tags', undefined],
  ['{{P.Name}}', 'String', 'hot'],
  ['{{P.objectId}}', 'String', record.P.objectId],
  ['{{empty.Name}}', 'String', undefined],
  ['{{gone.Name}}', 'String', undefined],
  ['{{Owner.name}}', 'String', 'Boss'],
  ['{{Owner.status.Name}}', 'String', 'here'],
  ['{{Owner.password}}', 'String', undefined],
  ['{{Owner._username_key}}', 'String', undefined],
  ['{{objectId}}', 'String', record.objectId],
  // A text for a Pointer field is an objectId.
  ['{{objectId}}', `Pointer:${table}`, pointer(table, record.objectId)],
  ['{{P.objectId}}', 'Pointer:Tags', record.P],
  ['tag0000002', 'Pointer:Tags', tags[1]],
  ['{{none}}', 'Pointer:Tags', undefined],
  ['{{createdBy}}', 'Pointer:_User', pointer('_User', 'master')],
  ['{{html}}', 'HTML/XML', '<p>{{Name}}</p>'],
  ['{{constructor}}', 'String', undefined],
  ['{{o.__proto__}}', 'String', undefined],
  // Texts with more in them.
  ['Hello {{Name}}!', 'String', 'Hello דנה "שם" <b>!'],
  ['{{n}}{{zero}}', 'String', '-1.50'],
  ['{{is}}|{{at}}|{{P}}', 'String', `false|${record.at.iso}|${record.P.objectId}`],
  ['[{{none}}{{empty.Name}}{{gone.Name}}]', 'String', '[]'],
  ['שם: {{P.Name}}', 'String', 'שם: hot'],
  ['o = {{o.deep}}', 'String', 'o = {"text":"עומק"}'],
  ['{{createdAt}}', 'Date', /^{"__type":"Date","iso":"\d{4}-\d\d-\d\dT[\d:.]+Z"}$/],
  ['{{updatedAt}}', 'String', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/],
  [{ __type: 'Date', iso: '{{createdAt}}' }, 'Date', /^{"__type":"Date","iso":"\d{4}-\d\d-\d\dT[\d:.]+Z"}$/],
  ['on {{createdAt}}', 'String', /^on \d{4}-\d\d-\d\dT[\d:.]+Z$/],
  ['tags: {{list}}', 'String', /^tags: x, ?2, ?tag0000001$/],
  ['no template {Name} {{', 'String', 'no template {Name} {{'],
  ['{{ 5 + 5 }}', 'String', '{{ 5 + 5 }}'],
  ['', 'String', ''],
  // Inside values.
  [['{{n}}', 'n = {{n}}', 5, ['{{P}}']], 'Array', [-1.5, 'n = -1.5', 5, [record.P]]],
  [{ a: '{{Name}}', b: { c: ['{{is}}'] }, d: null }, 'Object', { a: 'דנה "שם" <b>', b: { c: [false] }, d: null }],
  [{ of: table, by: '{{objectId}}' }, 'Object', { of: table, by: record.objectId }],
  [{ __type: 'Pointer', className: 'Tags', objectId: '{{P.objectId}}' }, 'Pointer:Tags', record.P],
  [{ __op: 'Increment', amount: '{{n}}' }, 'Number', -1.5],
];

onAnyEngine((world) => {
  let boss: User;
  let hot: string;
  before(async () => {
    hot = await world.create('Tags', { Name: 'hot' });
    const status = pointer('UserStatuses', await world.create('UserStatuses', { Name: 'here' }));
    boss = await signUp(world, { name: 'Boss', status });
  });
  const record = () => ({
    ...{ Name: 'דנה "שם" <b>', n: -1.5, zero: 0, is: false, at: date('2026-03-04T05:06:07.008Z'), html: '<p>{{Name}}</p>' },
    ...{ o: { a: 1, deep: { text: 'עומק' } }, list: ['x', 2, tags[0]], P: pointer('Tags', hot), gone: tags[1] },
    Owner: userPointer(boss),
  });

  for (const event of ['create', 'update', 'delete'] as const)
    test(`create-object: values of the record, typed, on ${event}`, async () => {
      const table = await world.place(types);
      const own = { ...record(), objectId: 'record0001' };
      const all = values({ record: own, table });
      const heard = await world.place(Object.fromEntries(all.map(([, type], at) => [`f${at}`, type])));
      const fields = Object.fromEntries(all.map(([template], at) => [`f${at}`, template]));
      if (event !== 'create') await world.create(table, event === 'update' ? { objectId: 'record0001', n: 9, none: 'x' } : own);
      await world.settle();
      await world.trigger({ table, events: [event], actions: [creates(heard, fields)] });
      if (event === 'create') await world.create(table, own);
      else if (event === 'update') await world.update(table, 'record0001', { ...record(), none: null });
      else await world.remove(table, 'record0001');
      await world.settle();
      const failed = await world.log({ objectIdValue: 'record0001', error: { $exists: true } });
      assert.deepEqual(failed.slice(-1).map(said), []);
      const [made1, ...more] = await world.find(heard);
      assert.deepEqual(more, []);
      for (const [at, [template, , expected]] of all.entries()) {
        const [name, got] = [JSON.stringify(template), made1[`f${at}`]];
        if (expected instanceof RegExp) assert.match(typeof got === 'string' ? got : JSON.stringify(got), expected, name);
        else assert.deepEqual(got, expected, name);
      }
    });

  test('what stands in a record is data: no template, no operator, no other wrapper', async () => {
    const table = await world.place({ o: 'Object', list: 'Array' });
    const heard = await world.place({ n: 'Number', text: 'String', any: 'Object' });
    const text = '{{n}} {{objectId}} {{{Name}}} $& $1 \\';
    await world.trigger({ table, events: ['create'], actions: [creates(heard, { Name: '{{Name}}', text: 'a {{Name}}' })] });
    await world.effects(() => world.create(table, { Name: text }), made(table), made(heard), runs());
    const [{ Name, text: inText }] = (await world.find(heard)) as [Json];
    assert.deepEqual([Name, inText], [text, `a ${text}`]);
  });

  test('what looks like an operator is refused: an error row', async () => {
    const table = await world.place({ o: 'Object', list: 'Array' });
    const heard = await world.place({ any: 'Object', n: 'Number', list: 'Array' });
    for (const [field, template] of Object.entries({ n: '{{o.op}}', any: '{{o.op}}', list: '{{list}}' }))
      await world.trigger({ table, events: ['update'], actions: [creates(heard, { [field]: template })] });
    const op = { __op: 'Increment', amount: 1 };
    const id = await world.create(table, { Name: 'x' });
    await world.effects(() => world.update(table, id, { o: { op }, list: [op] }), { [`update ${table}`]: 1 }, runs(3, 0, 3));
    const rows = await world.log({ objectIdValue: id, error: { $exists: true } });
    for (const row of rows) assert.match(said(row), /operator/);
  });

  test('update-object whose values are all absent: nothing is written, and it is done', async () => {
    const table = await world.place({ none: 'String' });
    const fields = { none: '{{noSuchField}}', Name: '{{none}}' };
    await world.trigger({ table, events: ['create', 'update'], actions: [updates('self', fields)] });
    const id = await world.effects(() => world.create(table, { Name: 'a' }), made(table), runs());
    assert.equal((await world.read(table, id)).Name, 'a');
  });

  test('update-object: templates of the values; one whose value is absent leaves the field as it is', async () => {
    const table = await world.place({ n: 'Number', s: 'String', none: 'String' });
    const fields = { n: '{{Name.length}}', s: 'for {{Name}}', none: '{{noSuchField}}' };
    await world.trigger({ table, events: ['create'], actions: [updates('self', fields)] });
    const act = () => world.create(table, { Name: 'א', n: 3, none: 'kept' });
    const id = await world.effects(act, made(table), { [`update ${table}`]: 1 }, runs());
    const { n, s, none } = await world.read(table, id);
    assert.deepEqual({ n, s, none }, { n: 3, s: 'for א', none: 'kept' });
    const [row] = await world.find('_Timeline', { objectIdValue: id, event: 'update' });
    assert.deepEqual(Object.keys(row.data), ['s', 'updatedByTrigger']);
  });

  test('Pointers are read when the action is done, up to three deep', async () => {
    const last = await world.place();
    const third = await world.place({ Next: `Pointer:${last}` });
    const second = await world.place({ Next: `Pointer:${third}` });
    const first = await world.place({ Next: `Pointer:${second}` });
    const table = await world.place({ Next: `Pointer:${first}` });
    const heard = await world.place({ Two: 'String', Three: 'String', Four: 'String' });
    let to = await world.create(last, { Name: 'four' });
    for (const [place, Name, next] of [
      [third, 'three', last],
      [second, 'two', third],
      [first, 'one', second],
    ] as const)
      to = await world.create(place, { Name, Next: pointer(next, to) });
    const fields = {
      Name: '{{Next.Name}}',
      Two: '{{Next.Next.Name}}',
      Three: '{{Next.Next.Next.Name}}',
      Four: '{{Next.Next.Next.Next.Name}}',
    };
    await world.trigger({ table, events: ['create'], actions: [creates(heard, fields)] });
    const act = () => world.create(table, { Next: pointer(first, to) });
    await world.effects(act, made(table), made(heard), runs());
    const [{ Name, Two, Three, Four }] = (await world.find(heard)) as [Json];
    assert.deepEqual([Name, Two, Three, Four], ['one', 'two', 'three', undefined]);
  });

  test('e-mail: in html values are escaped, but for those of three braces; in a subject they are not', async () => {
    const table = await world.place({ html: 'HTML/XML', P: 'Pointer:Tags' });
    const html = '<a href="?q={{Name}}">{{Name}} · {{P.Name}}</a><i>{{{html}}}</i>{{none}}';
    await world.trigger({
      table,
      events: ['create'],
      actions: [mails('a@example.com', { subject: '{{Name}}: {{html}}', html })],
    });
    const body = { Name: `"דנה" & 'אח' <i>`, html: '<u>x</u>', P: pointer('Tags', hot) };
    await world.effects(() => world.create(table, body), made(table), mailed(), runs());
    const mail = world.smtp().received.at(-1);
    const [, quoted, shown, after] = /^<a href="\?q=(.*?)">(.*) · hot<\/a><i>(.*)<\/i>\s*$/.exec(mail?.html ?? '') ?? [];
    for (const escaped of [quoted, shown]) {
      const plain = escaped
        ?.replace(/&quot;|&#34;|&#x22;/g, '"')
        .replace(/&#39;|&#x27;|&apos;/g, "'")
        .replace(/&lt;/g, '<')
        .replace(/&gt;/g, '>');
      assert.doesNotMatch(escaped ?? '<', /[<>"']/);
      assert.equal(plain?.replace(/&amp;/g, '&'), body.Name);
    }
    assert.equal(after, '<u>x</u>');
    assert.equal(mail?.subject, `${body.Name}: <u>x</u>`);
    const row = (await world.find('Emails')).at(-1);
    assert.deepEqual([row.Subject, row.Content.trim()], [mail?.subject, mail?.html.trim()]);
  });

  test('notification: content is text, of a user who is named by a template too', async () => {
    const table = await world.place({ Owner: 'Pointer:_User' });
    await world.trigger({ table, events: ['create'], actions: [notifies('{{Owner.objectId}}', '{{Name}}: {{Owner.name}}')] });
    const act = () => world.create(table, { Name: '<דנה>', Owner: userPointer(boss) });
    await world.effects(act, made(table), notified(), runs());
    assert.equal((await world.find('_Notification')).at(-1).Content, '<דנה>: Boss');
  });
});
