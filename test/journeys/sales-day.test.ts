/** Journeys 2 and 6: a day of sales in Hebrew, right to left, with the keyboard only. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { pointer } from '../../client/src/index.ts';
import { newPerson, type Person } from '../support/browser.ts';
import { type Crm, crmOf } from '../support/client.ts';
import { anyEngine, type Service, startService } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { join, signUp, type User } from '../support/users.ts';

/** Timeout for the browser on a busy machine. */
const PATIENCE_MS = 20_000;

describe('a day of sales', () => {
  let service: Service;
  let crm: Crm;
  let [dana, noa] = [] as unknown as [User, User];
  let person: Person;
  let objectId: string;
  const statusId = new Map<string, string>();

  before(async () => {
    service = await startService({ engine: anyEngine[0] ?? 'sqlite' });
    crm = crmOf(service);
    [dana, noa] = [await signUp(service, { name: 'דנה כהן' }), await signUp(service, { name: 'נועה' })];
    await join(service, 'Sales', [dana, noa]);
    await crm.table('Config').create({ Name: 'TimeZone', Value: { TimeZone: 'Asia/Jerusalem' } });
    for (const { Name, objectId: id } of (await crm.table('LeadStatuses').find()).results) statusId.set(Name, id);
    objectId = await create({
      Name: 'רותי (VIP) 3',
      PhoneNumber: '+972501234567',
      Email: 'ruti@example.com',
      ...status('ליד חדש'),
    });
    person = await newPerson(service, { language: 'he' });
    await person.open('/console/');
    await person.signIn(dana.username);
  });
  after(async () => {
    await person.close();
    await service.stop();
  });

  const status = (name: string) => ({ LeadStatusId: pointer('LeadStatuses', statusId.get(name) ?? '') });
  const create = async (fields: Record<string, unknown>): Promise<string> =>
    (await crm.table('Accounts').create(fields)).objectId;
  const stored = () => crm.table('Accounts').get(objectId);
  const press = async (...keys: string[]) => {
    for (const key of keys) await person.page.keyboard.press(key);
  };
  /** Presses Tab until an element with the name has the focus. */
  const tabTo = async (name: RegExp, key = 'Tab') => {
    for (let count = 0; count < 120; count++) {
      const focused = await person.page.evaluate(`(() => {
        const one = document.activeElement;
        const by = (one?.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '');
        return [one?.getAttribute('aria-label'), ...by, one?.labels?.[0]?.textContent, one?.textContent].filter(Boolean).join(' ');
      })()`);
      if (name.test(String(focused))) return;
      await press(key);
    }
    throw new Error(`Tab leads to nothing called ${name}`);
  };

  test('a phone in another spelling, in the search box, leads to the record', async () => {
    const { page } = person;
    await press('Control+k');
    await page.keyboard.type('050-1234567');
    await page.getByRole('option').filter({ hasText: 'רותי' }).waitFor();
    await press('ArrowDown', 'Enter');
    await page.waitForURL(`**/console/${service.appId}/Accounts/${objectId}`);
    await page.getByRole('heading', { level: 1, name: 'רותי (VIP) 3' }).waitFor();
  });

  test('a status by its name, a date by its digits; the timeline shows who, from what, to what', async () => {
    const { page } = person;
    await page.getByLabel('סטטוס ליד', { exact: true }).waitFor();
    await tabTo(/^סטטוס ליד/);
    await press('Control+a');
    await page.keyboard.type('בטיפול');
    await page.getByRole('option', { name: 'בטיפול' }).waitFor();
    await page.getByRole('option').nth(1).waitFor({ state: 'hidden' });
    await press('ArrowDown', 'Enter');
    await tabTo(/תאריך לידה/);
    await page.keyboard.type('05102026');
    await press('Control+s');
    await soon(async () => {
      const record = await stored();
      assert.equal(record.LeadStatusId.objectId, statusId.get('בטיפול'));
      assert.equal(record.Birthday?.iso.slice(0, 10), '2026-10-04', 'midnight of Jerusalem');
    }, PATIENCE_MS);
    const timeline = page.getByRole('region', { name: 'ציר זמן' });
    await timeline.getByText('דנה כהן').first().waitFor();
    const shown = await timeline.innerText();
    for (const text of ['ליד חדש', 'בטיפול', 'סטטוס ליד', '05.10.2026']) assert.ok(shown.includes(text), `${text} in ${shown}`);
    assert.ok(!shown.includes(String(statusId.get('בטיפול'))), 'no ids');
  });

  test('a filter in words, saved as a view that is there in another browser, and that others do not see', async () => {
    const { page } = person;
    // In Jerusalem it is the first day of this month, in UTC the last one of the month before.
    const now = new Date();
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1) - 3_600_000 / 2);
    const at = (date: Date) => ({ Birthday: { __type: 'Date', iso: date.toISOString() } });
    const inside = await create({ Name: 'בתוך החודש', ...at(first), ...status('ליד חדש') });
    const outside = await create({ Name: 'לפני החודש', ...at(new Date(first.getTime() - 4 * 3_600_000)), ...status('ליד חדש') });
    await create({ Name: 'סטטוס אחר', ...at(now), ...status('בטיפול') });
    await person.open(`/console/${service.appId}/Accounts`);
    await page.getByRole('gridcell', { name: 'בתוך החודש' }).waitFor();

    await tabTo(/^הוספת סינון/);
    await press('Enter');
    await page.keyboard.type('תאריך לידה');
    await press('ArrowDown', 'Enter');
    await page.getByLabel('תנאי').waitFor();
    await tabTo(/^תנאי/);
    await press(...Array.from({ length: 5 }, () => 'ArrowDown'));
    assert.equal(await page.getByLabel('תנאי').inputValue(), 'thisMonth');
    await tabTo(/^החלה/);
    await press('Enter');
    await page.getByRole('gridcell', { name: 'לפני החודש' }).waitFor({ state: 'hidden' });
    await page.getByRole('gridcell', { name: 'בתוך החודש' }).waitFor();

    await tabTo(/^הוספת סינון/);
    await press('Enter');
    await page.keyboard.type('סטטוס ליד');
    await press('ArrowDown', 'Enter');
    await page.getByLabel('תנאי').waitFor();
    await tabTo(/חיפוש לפי שם|רשומות/);
    await page.keyboard.type('ליד חדש');
    await page.getByRole('option', { name: 'ליד חדש' }).waitFor();
    await press('ArrowDown', 'Enter');
    await tabTo(/^החלה/);
    await press('Enter');
    await page.getByRole('gridcell', { name: 'סטטוס אחר' }).waitFor({ state: 'hidden' });
    await soon(
      async () => assert.match(String(await page.getByRole('grid').getAttribute('aria-rowcount')), /^[12]$/),
      PATIENCE_MS,
    );

    await tabTo(/^שמירת תצוגה/);
    await press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('החדשים שלי');
    await press('Enter');
    await page.waitForURL(/[?&]view=/);
    const view = new URL(page.url()).searchParams.get('view');

    const elsewhere = await newPerson(service, { language: 'he' });
    await elsewhere.open(`/console/${service.appId}/Accounts?view=${view}`);
    await elsewhere.signIn(dana.username);
    await elsewhere.page.getByText('החדשים שלי').first().waitFor();
    await elsewhere.page.getByRole('gridcell', { name: 'בתוך החודש' }).waitFor();
    assert.equal(await elsewhere.page.getByRole('gridcell', { name: 'סטטוס אחר' }).count(), 0);
    elsewhere.assertClean();
    await elsewhere.close();

    const other = await newPerson(service, { language: 'he' });
    await other.open(`/console/${service.appId}/Accounts?view=${view}`);
    await other.signIn(noa.username);
    await other.page.getByRole('grid').or(other.page.getByRole('alert')).first().waitFor();
    assert.equal(await other.page.getByText('החדשים שלי').count(), 0);
    await other.close();
    assert.ok(inside !== outside);
  });

  test('the arrows lead where they point; Home, End and Enter do what they do in a table', async () => {
    const { page } = person;
    await person.open(`/console/${service.appId}/Accounts`);
    await page.getByRole('gridcell').first().waitFor();
    await tabTo(/^עמודות/);
    while (!(await page.evaluate(`Boolean(document.activeElement.closest('[role=grid]'))`))) await press('Tab');
    const column = () => page.evaluate(`document.activeElement.closest('[aria-colindex]')?.getAttribute('aria-colindex')`);
    const left = () => page.evaluate('document.activeElement.getBoundingClientRect().x') as Promise<number>;
    await press('ArrowDown', 'Home');
    assert.equal(await column(), '1');
    const before = await left();
    await press('ArrowLeft');
    assert.equal(await column(), '2');
    assert.ok((await left()) < before, 'the next column stands to the left');
    await press('ArrowRight');
    assert.equal(await column(), '1');
    person.assertClean();
  });
});
