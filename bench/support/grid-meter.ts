import { setTimeout as wait } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../../scripts/chromium.ts';
import { GridView, VISIBLE_ROWS } from '../../test/support/grid.ts';
import type { Service } from '../../test/support/service.ts';
import { password } from '../../test/support/users.ts';
import type { Scratch } from './scratch.ts';

/** Timeout of any step, in milliseconds. */
const TIMEOUT_MS = 60_000;
/** Interval between two turns of the wheel. */
const WHEEL_INTERVAL_MS = 33;

/** The browser of a signed-in user. */
export class Desk {
  readonly page: Page;
  readonly grid: GridView;
  readonly #context: BrowserContext;
  #requestedKeys = '';

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.page = page;
    this.grid = new GridView(page);
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.includes('/rows/')) this.#requestedKeys = searchParams.get('keys') ?? '';
    });
  }

  /** The fields in the grid's last request, as sent. */
  get requestedKeys(): string {
    return this.#requestedKeys;
  }

  static async launch(scratch: Scratch): Promise<Browser> {
    const args = ['--no-sandbox', '--disable-dev-shm-usage'];
    const browser = await chromium.launch({ executablePath: chromiumPath(), args });
    scratch.keep(browser);
    return browser;
  }

  /** Opens a new browser context after signing in, so that it has nothing of the console in its cache. */
  static async open(browser: Browser, service: Service, username: string): Promise<Desk> {
    const options = {
      baseURL: service.url,
      locale: 'en-US',
      timezoneId: 'Asia/Jerusalem',
      viewport: { width: 1280, height: 800 },
    };
    const other = await browser.newContext(options);
    const page = await other.newPage();
    await page.goto('/console/', { timeout: TIMEOUT_MS });
    await page.getByRole('textbox', { name: 'Username' }).fill(username, { timeout: TIMEOUT_MS });
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation').first().waitFor({ timeout: TIMEOUT_MS });
    const context = await browser.newContext({ ...options, storageState: await other.storageState() });
    await other.close();
    return new Desk(context, await context.newPage());
  }

  /** Opens an address. @returns milliseconds until the first rows, and until the total count, are visible */
  async show(address: string): Promise<{ rowsMs: number; countMs: number }> {
    const started = performance.now();
    await this.page.goto(address, { waitUntil: 'commit' });
    await this.grid.settled(TIMEOUT_MS);
    const rowsMs = performance.now() - started;
    await this.grid.counted(TIMEOUT_MS);
    return { rowsMs, countMs: performance.now() - started };
  }

  /** Moves the scroll bar. @param part position from 0 to 1 @returns milliseconds until every visible row has its record */
  async jump(part: number): Promise<number> {
    const before = (await this.grid.rows())[0]?.index ?? -1;
    const started = performance.now();
    await this.grid.scrollTo(part);
    await this.grid.movedFrom(before, TIMEOUT_MS);
    await this.grid.settled(TIMEOUT_MS);
    return performance.now() - started;
  }

  /**
   * Turns the wheel.
   * @returns the longest time in milliseconds that a visible row lacked its record, and the number of rows scrolled
   */
  async wheel(seconds: number, pixelsEach: number): Promise<{ emptyMs: number; rows: number }> {
    const from = (await this.grid.rows())[0]?.index ?? 0;
    const box = await this.grid.element.boundingBox();
    await this.page.mouse.move((box?.x ?? 0) + 400, (box?.y ?? 0) + 300);
    await this.page.evaluate(RECORDER);
    const end = performance.now() + seconds * 1_000;
    const turns: Promise<void>[] = [];
    // Does not wait for the page; a user does not either.
    for (; performance.now() < end; await wait(WHEEL_INTERVAL_MS)) turns.push(this.page.mouse.wheel(0, pixelsEach));
    await Promise.all(turns);
    const emptyMs: number = await this.page.evaluate('globalThis.stopRecorder()');
    await this.grid.settled(TIMEOUT_MS);
    return { emptyMs, rows: ((await this.grid.rows())[0]?.index ?? 0) - from };
  }

  /** Returns the bytes of live objects of the page. */
  async heapBytes(): Promise<number> {
    const session = await this.#context.newCDPSession(this.page);
    await session.send('HeapProfiler.enable');
    for (let times = 0; times < 3; times++) await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    await session.detach();
    return usedSize;
  }

  close(): Promise<void> {
    return this.#context.close();
  }
}

/** Inspects the visible rows in every frame. */
const RECORDER = `(() => {
  const since = new Map();
  let longest = 0;
  let goesOn = true;
  const look = (now) => {
    const empty = new Set(${VISIBLE_ROWS}.filter(({ objectId }) => objectId === null).map(({ index }) => index));
    for (const index of since.keys()) if (!empty.has(index)) since.delete(index);
    for (const index of empty) {
      if (!since.has(index)) since.set(index, now);
      longest = Math.max(longest, now - since.get(index));
    }
    if (goesOn) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  globalThis.stopRecorder = () => {
    goesOn = false;
    return longest;
  };
})()`;
