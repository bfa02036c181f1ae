/** What the grid does when it cannot do what the user asks: filters by unknown fields, cells without an editor, partial dates, few rights. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { date } from '../../client/src/index.ts';
import type { Person } from '../support/browser.ts';
import { type Crm, crmOf } from '../support/client.ts';
import { storeOf } from '../support/records.ts';
import { anyEngine, type Service, startService } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { newRole, signUp, type User } from '../support/users.ts';
import { SignIns } from './sign-ins.ts';

describe('what cannot be done', () => {
  let service: Service;
  let [dana, small] = [] as unknown as [User, User];
  let table: string;
  let crm: Crm;
  let objectId: string;
  const when = '2026-10-01T10:11:00.000Z';

  before(async () => {
    service = await startService({ engine: anyEngine[0] ?? 'sqlite' });
    crm = crmOf(service);
    [dana, small] = [await signUp(service), await signUp(service)];
    table = await storeOf(() => service).table({ Name: 'String', When: 'Date', Shape: 'Object', Secret: 'String' });
    const full = { [`role:${(await newRole(service, [dana])).name}`]: true as const };
    const some = { ...full, [small.id]: true as const };
    await crm.request('PUT', `schemas/${table}`, {
      body: {
        classLevelPermissions: {
          ...{ find: some, count: some, get: full, create: full, update: some, delete: full },
          protectedFields: { [small.id]: ['Secret'] },
        },
      },
    });
    ({ objectId } = await crm.table(table).create({ Name: 'Only one', When: date(when), Shape: { a: 1 }, Secret: 'x' }));
  });
  after(async () => {
    await signIns.close();
    await service.stop();
  });

  const grid = (where?: object) =>
    `/console/${service.appId}/${table}${where ? `?where=${encodeURIComponent(JSON.stringify(where))}` : ''}`;
  const signIns = new SignIns(() => service);
  const opened = (user: User, language: 'he' | 'en' = 'en'): Promise<Person> => signIns.open(user, { language });
  const stored = () => crm.table(table).get(objectId);

  for (const [language, message, remove] of [
    ['en', /does not have, or that you may not see: .*Foo/, 'Remove this condition'],
    ['he', /אינו בטבלה הזו.*Foo/, 'הסרת התנאי הזה'],
  ] as const)
    test(`a filter by a field that is not there says so, and goes at a press: ${language}`, async () => {
      const person = await opened(dana, language);
      const { page } = person;
      await person.open(grid({ Foo: 1, Name: 'Only one' }));
      await page.getByRole('alert').filter({ hasText: message }).waitFor();
      await person.assertAccessible();
      await page.getByRole('button', { name: remove }).click();
      await page.getByRole('gridcell', { name: 'Only one' }).waitFor();
      assert.equal(new URL(page.url()).searchParams.get('where'), '{"Name":"Only one"}');
      assert.equal(await page.getByRole('button', { name: remove }).count(), 0);
      person.assertClean();
    });

  test('a date that is typed in part, or not at all, does not remove the present one', async () => {
    const person = await opened(dana);
    const { page } = person;
    await person.open(grid());
    const cell = page.getByRole('row').nth(1).getByRole('gridcell').nth(1);
    const before = await cell.innerText();
    await cell.click();
    await page.keyboard.press('x');
    await page.getByRole('spinbutton').first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('spinbutton').first().waitFor({ state: 'hidden' });
    assert.equal(await cell.innerText(), before);
    await page.keyboard.press('0');
    await page.getByRole('spinbutton').first().waitFor();
    await page.keyboard.type('5');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'not complete' }).waitFor();
    await person.assertAccessible();
    await page.keyboard.press('Escape');
    await page.getByRole('spinbutton').first().waitFor({ state: 'hidden' });
    assert.equal(await cell.innerText(), before);
    await cell.click();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Clear' }).click();
    await soon(async () => assert.equal((await stored()).When, undefined));
    await crm.table(table).update(objectId, { When: date(when) });
  });

  test('lines that are pasted into a line stay lines', async () => {
    const person = await opened(dana);
    const { page, context } = person;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await person.open(grid());
    const note = page.getByRole('row').nth(1).getByRole('gridcell').nth(3);
    await note.click();
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: 'Edit Secret' }).waitFor();
    await page.evaluate(`navigator.clipboard.writeText('one\\r\\ntwo')`);
    await page.keyboard.press('Control+v');
    await page.keyboard.type('!');
    await page.keyboard.press('Enter');
    await soon(async () => assert.equal((await stored()).Secret, 'one\ntwo!'));
    await note.click();
    await page.keyboard.press('F2');
    const box = await page.getByRole('textbox', { name: 'Edit Secret' }).boundingBox();
    const [x, y] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + (box?.height ?? 0) - 10];
    assert.ok((box?.height ?? 0) > 80, 'some lines are seen, though the table ends below the first');
    assert.equal(await page.evaluate(`document.elementFromPoint(${x}, ${y})?.tagName`), 'TEXTAREA');
    await page.keyboard.type('?');
    await page.keyboard.press('Enter');
    await soon(async () => assert.equal((await stored()).Secret, 'one\ntwo!?'));
    person.assertClean();
    await crm.table(table).update(objectId, { Secret: 'x' });
  });

  test('in Hebrew a date and its time are typed as they are read: from left to right', async () => {
    const person = await opened(dana, 'he');
    const { page } = person;
    await person.open(grid());
    await page.getByRole('row').nth(1).getByRole('gridcell').nth(1).click();
    await page.keyboard.press('F2');
    const parts = page.getByRole('spinbutton');
    await parts.first().waitFor();
    const places = await parts.evaluateAll((all: any[]) => all.map((one) => one.getBoundingClientRect().x));
    assert.equal(places.length, 5);
    assert.deepEqual(
      places,
      places.toSorted((one, other) => one - other),
    );
    await person.assertAccessible();
    await page.keyboard.press('Escape');
  });

  test('with forced colours the current choice is visible', async (t) => {
    const person = await opened(dana);
    const { page } = person;
    await page.emulateMedia({ forcedColors: 'active' });
    t.after(() => page.emulateMedia({ forcedColors: null }));
    await person.open(grid());
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.keyboard.press('ArrowDown');
    const current = page.locator('[role=option].g-option-current');
    await current.waitFor();
    assert.notEqual(
      await current.evaluate((one: any) => one.ownerDocument.defaultView.getComputedStyle(one).outlineStyle),
      'none',
    );
    await page.keyboard.press('Escape');
    await page.getByRole('row').nth(1).getByRole('gridcell').nth(1).dblclick();
    const part = page.getByRole('spinbutton').first();
    await part.waitFor();
    assert.notEqual(await part.evaluate((one: any) => one.ownerDocument.defaultView.getComputedStyle(one).outlineStyle), 'none');
  });

  test('a cell without an editor says so, and Enter leads to the record', async () => {
    const person = await opened(dana);
    const { page } = person;
    await person.open(grid());
    const shape = page.getByRole('row').nth(1).getByRole('gridcell').nth(2);
    await shape.dblclick();
    const note = page.getByText('edited on the page of the record').and(page.locator('p'));
    await note.waitFor();
    await person.assertAccessible();
    await page.keyboard.press('ArrowLeft');
    await note.waitFor({ state: 'hidden' });
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('F2');
    await note.waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/${table}/${objectId}`);
    person.assertClean();
  });

  test('a user who may list records but not open them has no link to them, and a page that says so; no filter is answered wrongly', async () => {
    const person = await opened(small);
    const { page } = person;
    await person.open(grid());
    const name = page.getByRole('gridcell', { name: 'Only one' });
    await name.waitFor();
    assert.equal(await name.getByRole('link').count(), 0);
    await name.click();
    await page.keyboard.press('Enter');
    assert.equal(new URL(page.url()).pathname, grid());
    await person.open(`/console/${service.appId}/${table}/${objectId}`);
    await page.getByRole('heading', { level: 1, name: 'not open to you' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    await person.open(grid({ Secret: 'x' }));
    await page.getByRole('button', { name: 'Remove this condition' }).click();
    await name.waitFor();
    await person.open(`${grid()}?order=-Secret,Name`);
    await page.getByText('It was left out').waitFor();
    await name.waitFor();
  });

  test('a record that may be read alone keeps what it holds, and says that the right is missing', async () => {
    const { objectId: closed } = await crm.table(table).create({ Name: 'Closed', ACL: { [dana.id]: { read: true } } });
    const person = await opened(dana);
    const { page } = person;
    await person.open(grid({ objectId: closed }));
    const cell = page.getByRole('gridcell', { name: 'Closed' });
    await cell.click({ position: { x: 200, y: 10 } });
    await page.keyboard.press('F2');
    await page.keyboard.type('Other');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'do not have the right' }).waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await cell.waitFor();
  });

  test('a name that cannot be a field of any table is reported in the same words', async () => {
    const person = await opened(dana);
    const { page } = person;
    await person.open(grid({ ['q'.repeat(900)]: 1 }));
    await page.getByRole('alert').filter({ hasText: 'does not have' }).waitFor();
    await page.getByRole('heading', { name: 'No records match' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 1);
  });

  test('labels of ten thousand characters widen no page, in chips, forms, lists and titles', async () => {
    const label = (text: string) => text.repeat(10_000 / text.length);
    for (const [field, value] of [
      [undefined, label('T')],
      ['When', label('ל')],
      ['Shape', label('S')],
    ] as const)
      await crm.table('_Dictionary').create({ tblName: table, field, value });
    const person = await opened(dana);
    const { page } = person;
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await person.open(`${grid({ Shape: { $exists: true }, When: { $exists: true } })}&order=When,Shape`);
      await page.getByRole('gridcell', { name: 'Only one' }).waitFor();
      assert.ok((await page.title()).length <= 100);
      assert.ok(((await page.getByRole('heading', { level: 1 }).boundingBox())?.height ?? 0) < 100);
      await page.getByRole('button', { name: /Sorted/ }).click();
      const wide = await page.evaluate(`[document.documentElement, ...document.querySelectorAll('[role=dialog]')]
        .map((one) => one.scrollWidth - one.clientWidth)`);
      assert.deepEqual(wide, [0, 0], `${width} pixels`);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: /^Filter: S/ }).click();
      await page.getByRole('dialog').waitFor();
      assert.equal(
        await page.getByRole('dialog').evaluate((one: any) => one.scrollWidth - one.clientWidth),
        0,
        `${width} pixels`,
      );
    }
    person.assertClean();
  });

  test('an upload is seen, and stopped by the key that began it', async (t) => {
    await crm.request('PUT', `schemas/${table}`, { body: { fields: { F: { type: 'PrivateFile' } } } });
    const person = await opened(dana);
    const { page, context } = person;
    await person.open(`/console/${service.appId}/${table}/${objectId}`);
    const net = await context.newCDPSession(page);
    await net.send('Network.enable');
    t.after(() => net.detach());
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 100_000 };
    await net.send('Network.emulateNetworkConditions', slow);
    const input = page.locator('input[type=file]');
    await input.focus();
    await input.setInputFiles({ name: 'big.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(4_000_000, 65) });
    await page.getByRole('progressbar').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('progressbar').waitFor({ state: 'hidden' });
    assert.ok(await input.evaluate((one: any) => one === one.ownerDocument.activeElement));
    assert.equal(await page.getByText('big.bin').count(), 0);
  });

  test('a user who may not read histories sees a note, without an error', async () => {
    await crm.request('PUT', `schemas/${table}`, { body: { timeline: { displayFields: {}, index: {} } } });
    const person = await opened(dana);
    const { page } = person;
    await person.open(`/console/${service.appId}/${table}/${objectId}`);
    await page.getByRole('region', { name: 'Timeline' }).getByText('The history of records is not open to you.').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    person.assertClean();
  });
});
