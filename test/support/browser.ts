/** People at the console: each has a browser of his own, in which errors, refused content and requests to other hosts fail the test. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import axe from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../../scripts/chromium.ts';
import { runResource } from '../../src/storage/postgres/testing/run-resources.ts';
import type { Service } from './service.ts';
import { password } from './users.ts';

/** Milliseconds that anything may take on a machine that runs other tests beside. */
const PATIENCE_MS = 30_000;

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

/** One for the process. */
function openBrowser(): Promise<Browser> {
  browser ??= launch();
  return browser;
}

async function launch(): Promise<Browser> {
  await runResource('chromium');
  return chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** What tells one person's browser from another's. */
export interface PersonOptions extends BrowserContextOptions {
  readonly language?: 'he' | 'en';
  /** Of messages of the browser's console that the test brings about. */
  readonly expects?: RegExp;
}

export interface Person {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens an address below the service's. */
  open(path: string): Promise<void>;
  /** Signs in by the page that is shown. */
  signIn(username: string, secret?: string): Promise<void>;
  /** Insists that nothing went wrong so far that nobody saw. */
  assertClean(): void;
  /** Insists that axe finds nothing on the page as it is. */
  assertAccessible(about?: string): Promise<void>;
  close(): Promise<void>;
}

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Answers of the API that are errors are the program's to show; the browser notes them too. */
const usual = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** Somebody who has opened nothing yet. */
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
      // By the debugger's protocol, which no Content-Security-Policy is in the way of.
      await page.evaluate(axe.source);
      const found = await page.evaluate(
        (tags) =>
          (globalThis as any).axe.run({ runOnly: { type: 'tag', values: tags } }).then(({ violations }: any) => violations),
        rules,
      );
      const told = found.map(
        ({ id, help, nodes }: any) =>
          `${id}: ${help}: ${nodes
            .slice(0, 5)
            .map((node: any) => node.html)
            .join(' | ')}`,
      );
      assert.deepEqual(told, [], about);
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
