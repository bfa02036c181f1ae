/** Journey 5: two people edit one record. Changes of different fields merge, those of one field open a dialog, and no typed text is lost. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChangesAnswer } from '../../src/console/protocol/protocol.ts';
import { newPerson, type Person } from '../support/browser.ts';
import { type Crm, crmOf } from '../support/client.ts';
import { storeOf } from '../support/records.ts';
import { anyEngine, type Service, startService } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { join, signUp } from '../support/users.ts';

/** Timeout for the browser on a busy machine. */
const PATIENCE_MS = 20_000;

describe('two people, one record', () => {
  let service: Service;
  let crm: Crm;
  let table: string;
  let objectId: string;
  let [ana, ben] = [] as unknown as [Person, Person];

  before(async () => {
    service = await startService({ engine: anyEngine[0] ?? 'sqlite' });
    crm = crmOf(service);
    const store = storeOf(() => service);
    table = await store.table({ Name: 'String', Phone: 'String', City: 'String', Note: 'String' });
    const users = [await signUp(service, { name: 'Ana' }), await signUp(service, { name: 'Ben' })];
    await join(service, 'Sales', users);
    const only = { 'role:Sales': true };
    const rights = { find: only, get: only, create: only, update: only, delete: only };
    await crm.request('PUT', `schemas/${table}`, {
      body: { classLevelPermissions: rights, timeline: { displayFields: {}, index: {} } },
    });
    [ana, ben] = [await newPerson(service), await newPerson(service)];
    for (const [person, user] of [
      [ana, users[0]],
      [ben, users[1]],
    ] as const) {
      await person.open('/console/');
      await person.signIn(user?.username ?? '');
    }
  });
  beforeEach(async () => {
    ({ objectId } = await crm.table(table).create({ Name: 'Lead', Phone: '1', City: 'Haifa' }));
    for (const person of [ana, ben]) {
      await person.open(`/console/${service.appId}/${table}/${objectId}`);
      await field(person, 'Phone').waitFor({ timeout: 6000 });
    }
  });
  after(async () => {
    for (const person of [ana, ben]) await person.close();
    await service.stop();
  });

  const field = ({ page }: Person, name: string) => page.getByLabel(name, { exact: true });
  const type = async (person: Person, name: string, text: string) => field(person, name).fill(text);
  const save = ({ page }: Person) => page.getByRole('button', { name: 'Save', exact: true }).click();
  const stored = () => crm.table(table).get(objectId);
  const holds = (fields: object) =>
    soon(async () => {
      const record = await stored();
      for (const [name, value] of Object.entries(fields)) assert.equal(record[name], value, name);
    }, PATIENCE_MS);
  const shows = (person: Person, name: string, value: string) =>
    soon(async () => assert.equal(await field(person, name).inputValue(), value), PATIENCE_MS);

  test('different fields: both values stand, and each sees what the other has changed', async () => {
    await type(ana, 'Phone', '2');
    await type(ben, 'City', 'Eilat');
    await save(ana);
    await holds({ Phone: '2', City: 'Haifa' });
    await save(ben);
    await holds({ Phone: '2', City: 'Eilat' });
    await shows(ben, 'Phone', '2');
    await shows(ana, 'City', 'Eilat');
  });

  test('what another has changed shows by itself, and never replaces what somebody types', async () => {
    await field(ben, 'Note').click();
    await ben.page.keyboard.type('half a sen');
    await type(ana, 'Phone', '3');
    await type(ana, 'Note', 'of Ana');
    await save(ana);
    await shows(ben, 'Phone', '3');
    assert.equal(await field(ben, 'Note').inputValue(), 'half a sen');
    await ben.page.keyboard.type('tence');
    assert.equal(await field(ben, 'Note').inputValue(), 'half a sentence', 'the cursor stays where it was');
  });

  for (const [what, { path, asks, shown }] of Object.entries({
    grid: {
      path: () => table,
      asks: () => `/rows/${table}`,
      shown: () => ben.page.getByRole('gridcell', { name: `Changed ${objectId}` }),
    },
    record: {
      path: () => `${table}/${objectId}`,
      asks: () => `/records/${table}/${objectId}`,
      shown: () => ben.page.getByRole('heading', { name: `Changed ${objectId}` }),
    },
  })) {
    for (const isSignalled of [false, true]) {
      test(`what another changes while the ${what} is opened shows too${isSignalled ? ', signalled before the first answer is here' : ''}`, async () => {
        const { page } = ben;
        const { promise: changed, resolve: hasChanged } = Promise.withResolvers<void>();
        const { promise: signalled, resolve: hasSignalled } = Promise.withResolvers<void>();
        // Delays the first poll for changes, which may begin late.
        await page.route(/\/changes$/, async (route) => {
          await Promise.race([changed, delay(1_500)]);
          await route.continue();
        });
        await page.route(/\/changes\?/, async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response });
          if (((await response.json()) as ChangesAnswer).tables.includes(table)) hasSignalled();
        });
        await page.route(
          (url) => url.pathname.endsWith(asks()),
          async (route) => {
            const response = await route.fetch();
            await crm.table(table).update(objectId, { Name: `Changed ${objectId}` });
            hasChanged();
            if (isSignalled) await Promise.race([signalled.then(() => delay(300)), delay(PATIENCE_MS)]);
            await route.fulfill({ response });
          },
          { times: 1 },
        );
        await ben.open(`/console/${service.appId}/${path()}`);
        await shown().waitFor({ timeout: PATIENCE_MS });
        await page.unrouteAll({ behavior: 'wait' });
      });
    }
  }

  test('the same field: a dialog shows before, mine and theirs, and asks; the timeline has both', async () => {
    await type(ana, 'City', 'Jaffa');
    await save(ana);
    await holds({ City: 'Jaffa' });
    await type(ben, 'City', 'Lod');
    // Longer than its box in the dialog.
    const acre = `Acre${' by the sea'.repeat(200)}`;
    await crm.table(table).update(objectId, { City: acre });
    await save(ben);
    const dialog = ben.page.getByRole('dialog');
    await dialog.waitFor();
    const text = await dialog.innerText();
    for (const value of ['Lod', 'Acre']) assert.ok(text.includes(value), `${value}: ${text}`);
    assert.equal((await stored()).City, acre, 'nothing is overwritten before somebody chooses');
    await ben.assertAccessible('conflict');
    await dialog.getByRole('button', { name: /mine/i }).first().click();
    const goOn = dialog.getByRole('button', { name: 'Go on' });
    if (await goOn.isVisible()) await goOn.click();
    await holds({ City: 'Lod' });
    const timeline = ben.page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('Acre').first().waitFor();
    await timeline.getByText('Jaffa').first().waitFor();
  });

  test('one deletes while the other types: a message says so, and the typed text is there to be copied', async () => {
    await type(ben, 'Note', 'typed in vain');
    await ana.page.getByRole('button', { name: 'Delete', exact: true }).click();
    await ana.page
      .getByRole('alertdialog')
      .or(ana.page.getByRole('dialog'))
      .getByRole('button', { name: 'Delete', exact: true })
      .click();
    await ana.page.waitForURL(new RegExp(`/${table}$`));
    await ben.page
      .getByText(/deleted/i)
      .first()
      .waitFor();
    await ben.page
      .getByText('typed in vain')
      .or(ben.page.getByRole('button', { name: /copy/i }))
      .first()
      .waitFor();
  });

  test('without a connection what was typed is kept over a reload, and written once on return', async () => {
    await ben.context.setOffline(true);
    await type(ben, 'Note', 'typed offline');
    await save(ben);
    await ben.page
      .getByText(/no connection/i)
      .first()
      .waitFor();
    await ben.context.setOffline(false);
    await holds({ Note: 'typed offline' });
    const { results: rows } = await crm.table('_Timeline').find({ where: { objectIdValue: objectId } });
    assert.equal(rows.filter(({ event }) => event === 'update').length, 1, JSON.stringify(rows));
    await type(ben, 'Note', 'typed and not saved');
    await ben.page.waitForTimeout(600);
    await ben.page.reload();
    await shows(ben, 'Note', 'typed and not saved');
    assert.equal((await stored()).Note, 'typed offline');
  });

  test('a double click on Save, and a new record that is sent twice, make one write', async () => {
    await ana.open(`/console/${service.appId}/${table}/new`);
    await type(ana, 'Name', 'Made once');
    await ana.page.getByRole('button', { name: 'Save', exact: true }).dblclick();
    await ana.page.waitForURL((url) => !url.pathname.endsWith('/new'));
    assert.equal(await crm.table(table).count({ Name: 'Made once' }), 1);
  });
});
