/** Journey 12: a private file from a mail, a hostile world, bad days. The gate's table of addresses is in test/console/gate.test.ts. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newPerson, type Person } from '../support/browser.ts';
import { type Crm, crmOf } from '../support/client.ts';
import { storeOf } from '../support/records.ts';
import { anyEngine, type Service, startService } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { newRole, otherPassword, password, signUp, type User, wrong } from '../support/users.ts';

const hostile = {
  markup: '<img src=x onerror="document.title=1"><script>document.title=1</script>',
  override: 'invoice\u202Efdp.exe',
  long: 'א'.repeat(10_000),
  quotes: `"'\`\${7*7}{{7*7}}</title></textarea>`,
};

/** Characters that override the direction of the text after them. */
const overrides = /[\u202a-\u202e\u2066-\u2069]/;

describe('bad days', () => {
  let service: Service;
  let crm: Crm;
  let dana: User;
  let table: string;
  let file: string;
  const people: Person[] = [];
  const person = async (options = {}) => {
    const one = await newPerson(service, options);
    people.push(one);
    return one;
  };

  before(async () => {
    service = await startService({ engine: anyEngine[0] ?? 'sqlite' });
    crm = crmOf(service);
    dana = await signUp(service);
    const store = storeOf(() => service);
    table = await store.table({ Name: 'String', Note: 'String', F: 'PrivateFile' });
    const only = { [`role:${(await newRole(service, [dana])).name}`]: true };
    const rights = { find: only, get: only, create: only, update: only, delete: only };
    await crm.request('PUT', `schemas/${table}`, { body: { classLevelPermissions: rights } });
    const F = await crm.files.upload('note.txt', 'private words', { contentType: 'text/plain' });
    const { objectId } = await crm.table(table).create({ Name: 'With a file', F });
    file = `/platform/files/${service.appId}/${F.name}/${table}/${objectId}/F`;
  });
  after(async () => {
    for (const one of people) await one.close();
    await service.stop();
  });

  const address = (objectId = '') => `/console/${service.appId}/${table}${objectId && `/${objectId}`}`;
  const create = async (fields: Record<string, unknown>): Promise<string> => (await crm.table(table).create(fields)).objectId;

  test('a link to a private file: sign in once, and the file opens', async () => {
    const { page, ...one } = await person();
    await one.open(file);
    await page.getByRole('textbox', { name: 'Username' }).fill(dana.username);
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`**${file}`);
    assert.match(await page.locator('body').innerText(), /private words/);
    one.assertClean();
  });

  test('signed in without the right: a page says so, and offers to sign in as somebody else', async () => {
    const stranger = await signUp(service);
    const { page, ...one } = await person({ language: 'he' });
    await one.open('/console/');
    await one.signIn(stranger.username);
    await one.open(file);
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.match(await page.locator('main').innerText(), new RegExp(stranger.username));
    await one.assertAccessible('denied');
    await page.getByRole('link', { name: 'כניסה בשם משתמש אחר' }).click();
    await page.getByRole('textbox', { name: 'שם משתמש' }).fill(dana.username);
    await page.getByRole('textbox', { name: 'סיסמה' }).fill(password);
    await page.getByRole('button', { name: 'כניסה' }).click();
    await page.waitForURL(`**${file}`);
  });

  test('hostile texts are texts: in the grid, on the page of the record, in its title, its history and the search', async () => {
    const { page, ...one } = await person();
    await one.open('/console/');
    await one.signIn(dana.username);
    for (const [kind, text] of Object.entries(hostile)) {
      const objectId = await create({ Name: text, Note: text });
      await one.open(address());
      await page.getByRole('grid').getByRole('gridcell').first().waitFor();
      assert.doesNotMatch(await page.getByRole('grid').innerText(), overrides, kind);
      await one.open(address(objectId));
      await page.getByRole('heading', { level: 1 }).waitFor();
      const scroll = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      assert.ok((scroll as number) <= 0, `${kind} widens the page by ${scroll}`);
      assert.equal(await page.locator('img[src="x"], main script').count(), 0, kind);
      assert.doesNotMatch(await page.getByRole('heading', { level: 1 }).innerText(), overrides, kind);
      assert.notEqual(await page.title(), '1', kind);
      const searched = page.waitForResponse(/\/search\?/);
      await page.getByRole('searchbox').first().fill(text.slice(0, 40));
      await searched;
      await page.waitForTimeout(50);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('img[src="x"]').count(), 0, kind);
    }
    one.assertClean();
  });

  test('a file goes up by the label of its field, and what it holds never runs', async () => {
    const { page, ...one } = await person();
    await one.open('/console/');
    await one.signIn(dana.username);
    const objectId = await create({ Name: 'Awaits a file' });
    await one.open(address(objectId));
    const buffer = Buffer.from('<script>document.title = 1</script>');
    await page.getByLabel('F', { exact: true }).setInputFiles({ name: 'x.html', mimeType: 'text/html', buffer });
    await page.getByRole('main').getByRole('link', { name: 'x.html' }).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const link = page.getByRole('main').locator(`a[href*="/${table}/${objectId}/F"]`, { hasText: 'x.html' });
    const sent = await page.request.get((await link.getAttribute('href')) ?? '');
    assert.equal(sent.status(), 200);
    assert.match(`${sent.headers()['content-disposition']} ${sent.headers()['content-security-policy']}`, /attachment|sandbox/);
    one.assertClean();
  });

  test('eight wrong passwords: a message names the lock and its minutes, in both languages', async () => {
    const user = await signUp(service);
    for (const [language, words] of [
      ['en', /locked.*30 minutes/i],
      ['he', /30 דקות/],
    ] as const) {
      const { page, ...one } = await person({ language });
      await one.open('/console/');
      const names = language === 'en' ? ['Username', 'Password', 'Sign in'] : ['שם משתמש', 'סיסמה', 'כניסה'];
      await page.getByRole('textbox', { name: names[0] as string }).fill(user.username);
      for (let count = 0; count < 9; count++) {
        await page.getByRole('textbox', { name: names[1] as string }).fill(wrong);
        const answered = page.waitForResponse(/session$/);
        await page.getByRole('button', { name: names[2] as string }).click();
        await answered;
      }
      await page.getByRole('alert').filter({ hasText: words }).waitFor();
      one.assertClean();
    }
  });

  test('a session that ends while somebody types: a dialog asks to sign in, nothing typed is lost, and it is saved then', async () => {
    const user = await signUp(service);
    await newRole(service, [user]);
    await crm.request('PUT', `schemas/${table}`, {
      body: { classLevelPermissions: { find: { '*': true }, get: { '*': true }, create: { '*': true }, update: { '*': true } } },
    });
    const objectId = await create({ Name: 'Typed' });
    const { page, ...one } = await person();
    await one.open('/console/');
    await one.signIn(user.username);
    await one.open(address(objectId));
    await page.getByLabel('Note', { exact: true }).fill('typed before the end');
    await crm.table('_User').update(user.id, { password: otherPassword });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Username' }).fill(user.username);
    await dialog.getByRole('textbox', { name: 'Password' }).fill(otherPassword);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    assert.equal(await page.getByLabel('Note', { exact: true }).inputValue(), 'typed before the end');
    // The save continues by itself.
    await soon(async () => {
      assert.equal((await crm.table(table).get(objectId)).Note, 'typed before the end');
    }, 20_000);
    one.assertClean();
  });
});
