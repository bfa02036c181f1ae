/**
 * Every page in both languages, light and dark, wide and narrow: axe, overflow, directions, sizes of buttons, focus, Content-Security-Policy.
 * Of language, colours and width every pair is covered, not every combination of the three.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pointer } from '../../client/src/index.ts';
import { newPerson, type Person, type PersonOptions } from '../support/browser.ts';
import { crmOf } from '../support/client.ts';
import { anyEngine, type Service, startService } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { join, signUp, type User } from '../support/users.ts';

const wide = { width: 1280, height: 800 };
const narrow = { width: 390, height: 844 };
/** The width that WCAG 1.4.10 (Reflow) demands. */
const smallest = { width: 320, height: 640 };
/** A page counts as loaded after this time without a request. */
const QUIET_MS = 150;
/** Timeout for the browser on a busy machine. */
const PATIENCE_MS = 20_000;

/** A change of colours is gradual, and its contrast is that of the end. */
const transitionsEnded = `(async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const ending = document.getAnimations().filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity);
  await Promise.allSettled(ending.map(({ finished }) => finished));
})()`;

describe('every page', () => {
  let service: Service;
  let dana: User;
  let objectId: string;

  before(async () => {
    service = await startService({ engine: anyEngine[0] ?? 'sqlite' });
    dana = await signUp(service, { name: 'דנה כהן' });
    await join(service, 'Sales', [dana]);
    const crm = crmOf(service);
    const { results: statuses } = await crm.table('LeadStatuses').find();
    const LeadStatusId = pointer('LeadStatuses', statuses[0]?.objectId ?? '');
    const people = ['דנה (VIP) 3', 'Acme Ltd.', 'חברת אלפא בע"מ', 'יוסי לוי'];
    for (const [at, Name] of people.entries())
      ({ objectId } = await crm
        .table('Accounts')
        .create({ Name, PhoneNumber: `+97250123456${at}`, Email: `person${at}@example.com`, LeadStatusId }));
    await crm.table('Activities').create({ Name: 'Call', AccountId: pointer('Accounts', objectId) });
    await crm.table('Accounts').update(objectId, { City: 'חיפה' });
  });
  after(() => service.stop());

  const pages = () => {
    const home = `/console/${service.appId}`;
    return [
      ['home', `${home}/`],
      ['grid', `${home}/Accounts`],
      ['empty grid', `${home}/Accounts?where=${encodeURIComponent('{"Name":"nobody"}')}`],
      ['record', `${home}/Accounts/${objectId}`],
      ['missing record', `${home}/Accounts/none`],
      ['new record', `${home}/Accounts/new`],
      ['search', `${home}/-/search?q=${encodeURIComponent('דנה')}`],
      ['settings', `${home}/-/me`],
      ['unknown table', `${home}/NoSuchTable`],
      ['unknown page', `${home}/-/nothing`],
    ] as const;
  };

  /** Signs in. @returns also a function that waits until the page has loaded everything */
  const signedIn = async (language: 'he' | 'en', options: PersonOptions = {}) => {
    const person = await newPerson(service, { language, ...options });
    const { page } = person;
    const loading = new Set<unknown>();
    let changedAt = 0;
    page.on('request', (request) => loading.add(request));
    for (const event of ['requestfinished', 'requestfailed'] as const)
      page.on(event as 'requestfinished', (request) => {
        loading.delete(request);
        changedAt = performance.now();
      });
    /** Waits until no request was under way for a while, since an answer may lead to the next request. */
    const settle = async () => {
      await page.getByRole('main').waitFor();
      while (loading.size > 0 || performance.now() - changedAt < QUIET_MS) await wait(10);
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'hidden' });
      await page.evaluate(transitionsEnded);
    };
    await person.open('/console/');
    await person.assertAccessible('sign-in');
    await person.signIn(dana.username);
    return { person, page, settle };
  };
  const overflow = ({ page }: Person) =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth') as Promise<number>;

  for (const [language, whenWide, whenNarrow] of [
    ['he', 'light', 'dark'],
    ['en', 'dark', 'light'],
  ] as const)
    test(`${language}: wide and ${whenWide}, narrow and ${whenNarrow}; sizes of buttons; focus is never hidden`, async () => {
      const { person, page, settle } = await signedIn(language, { colorScheme: whenNarrow });
      for (const [name, path] of pages()) {
        await page.setViewportSize(wide);
        await page.emulateMedia({ colorScheme: whenWide });
        await person.open(path);
        await settle();
        assert.equal(
          await page.evaluate('getComputedStyle(document.documentElement).direction'),
          language === 'he' ? 'rtl' : 'ltr',
        );
        await soon(async () => assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, name), PATIENCE_MS);
        for (const landmark of ['banner', 'navigation', 'main'] as const)
          assert.ok((await page.getByRole(landmark).count()) >= 1, `${name}: ${landmark}`);
        await person.assertAccessible(`${name}, wide`);
        if (language === 'en') await assertButtons(person, name);
        await page.setViewportSize(narrow);
        await page.emulateMedia({ colorScheme: whenNarrow });
        await settle();
        await person.assertAccessible(`${name}, narrow`);
        await page.setViewportSize(smallest);
        assert.ok((await overflow(person)) <= 0, `${name} is ${await overflow(person)} wider than 320 pixels`);
      }
      person.assertClean();
      await person.close();
    });

  test('right to left: the first column stands at the right, and so do its cells; ids and phones read left to right', async () => {
    const { person, page } = await signedIn('he');
    await person.open(`/console/${service.appId}/Accounts`);
    const header = page.getByRole('columnheader');
    await header.nth(1).waitFor();
    const [first, second] = [await header.nth(0).boundingBox(), await header.nth(1).boundingBox()];
    assert.ok((first?.x ?? 0) > (second?.x ?? 0));
    const phone = page.getByRole('gridcell').filter({ hasText: '+972501234560' }).first();
    await phone.waitFor();
    const order = await phone.evaluate((cell: any) => {
      const text = cell.ownerDocument.createTreeWalker(cell, 4).nextNode();
      const range = cell.ownerDocument.createRange();
      const at = (index: number) => {
        range.setStart(text, index);
        range.setEnd(text, index + 1);
        return range.getBoundingClientRect().x;
      };
      return at(0) < at(text.length - 1);
    });
    assert.ok(order, 'the plus stands at the left of the phone');
    person.assertClean();
    await person.close();
  });
});

/** Asserts that every button is at least 24 pixels wide and high, and that nothing covers the focus. */
async function assertButtons({ page }: Person, name: string): Promise<void> {
  const small = await page.evaluate(`[...document.querySelectorAll('button, [role=button], select, input[type=checkbox]')]
    .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map((one) => ({ rect: one.getBoundingClientRect(), name: one.getAttribute('aria-label') || one.textContent || one.outerHTML.slice(0, 80) }))
    .filter(({ rect }) => rect.width > 1 && (rect.width < 24 || rect.height < 24))
    .map(({ rect, name }) => name.trim() + ' ' + Math.round(rect.width) + 'x' + Math.round(rect.height))`);
  assert.deepEqual(small, [], name);
  const hidden: string[] = [];
  for (let count = 0; count < 25; count++) {
    await page.keyboard.press('Tab');
    const covered = await page.evaluate(`(() => {
      const one = document.activeElement;
      if (!one || one === document.body) return '';
      const { x, y, width, height } = one.getBoundingClientRect();
      const at = document.elementFromPoint(x + width / 2, y + Math.min(height / 2, 12));
      return !at || one.contains(at) || at.contains(one) ? '' : (one.getAttribute('aria-label') || one.textContent || one.tagName);
    })()`);
    if (covered) hidden.push(String(covered));
  }
  assert.deepEqual(hidden, [], name);
}
