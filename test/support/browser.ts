/** Users of the console: each has a browser context in which errors, blocked content and requests to other hosts fail the test. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import axe from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../../scripts/chromium.ts';
import { runResource } from '../../src/storage/postgres/testing/run-resources.ts';
import type { Service } from './service.ts';
import { password } from './users.ts';

/** Timeout of any step, in milliseconds. Long, because other tests run on the same machine. */
const PATIENCE_MS = 30_000;

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

/** Returns the browser of this process. */
function openBrowser(): Promise<Browser> {
  browser ??= launch();
  return browser;
}

async function launch(): Promise<Browser> {
  await runResource('chromium');
  return chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** What sets one person's browser apart from another's. */
export interface PersonOptions extends BrowserContextOptions {
  readonly language?: 'he' | 'en';
  /** Matches messages of the browser's console that the test causes on purpose. */
  readonly expects?: RegExp;
}

export interface Person {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens an address below the service's. */
  open(path: string): Promise<void>;
  /** Signs in on the page that is shown. */
  signIn(username: string, secret?: string): Promise<void>;
  /** Asserts that there was no unexpected error so far. */
  assertClean(): void;
  /** Asserts that axe finds no violation on the current page. */
  assertAccessible(about?: string): Promise<void>;
  close(): Promise<void>;
}

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Error answers of the API are handled by the program; the browser logs them too. */
const usual = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** Returns a person who has not opened any page yet. */
export async function newPerson(service: Pick<Service, 'url'>, options: PersonOptions = {}): Promise<Person> {
  const { language = 'en', expects, ...rest } = options;
  const context = await (await openBrowser()).newContext({
    locale: language === 'he' ? 'he-IL' : 'en-US',
    timezoneId: 'Asia/Jerusalem',
    reducedMotion: 'reduce',
    viewport: { width: 1280, height: 800 },
    baseURL: service.url,
    ...rest,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  watch(page, service.url, (fault) => {
    if (!usual.test(fault) && !expects?.test(fault)) faults.push(fault);
  });
  return {
    page,
    context,
    async open(path) {
      await page.goto(path);
    },
    async signIn(username, secret = password) {
      const words = language === 'he' ? hebrew : english;
      await page.getByRole('textbox', { name: words.username }).fill(username);
      await page.getByRole('textbox', { name: words.password }).fill(secret);
      await page.getByRole('button', { name: words.signIn }).click();
      await page.getByRole('navigation').first().waitFor();
    },
    assertClean() {
      assert.deepEqual(faults, []);
    },
    async assertAccessible(about = page.url()) {
      // Through the debugger's protocol, which the Content-Security-Policy does not restrict.
      await page.evaluate(axe.source);
      const found = await page.evaluate(
        (tags) =>
          (globalThis as any).axe.run({ runOnly: { type: 'tag', values: tags } }).then(({ violations }: any) => violations),
        rules,
      );
      const findings = found.map(
        ({ id, help, nodes }: any) =>
          `${id}: ${help}: ${nodes
            .slice(0, 5)
            .map((node: any) => node.html)
            .join(' | ')}`,
      );
      assert.deepEqual(findings, [], about);
    },
    close: () => context.close(),
  };
}

const english = { username: 'Username', password: 'Password', signIn: 'Sign in' };
const hebrew = { username: 'שם משתמש', password: 'סיסמה', signIn: 'כניסה' };

function watch(page: Page, origin: string, fault: (text: string) => void): void {
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') fault(message.text());
  });
  page.on('pageerror', (error) => fault(`uncaught: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) fault(`a request to ${url}`);
  });
  page.addInitScript(
    `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error('refused by ' + violatedDirective + ': ' + blockedURI))`,
  );
}
