/** Shared by the suites about password reset: requests a link, waits for its mail and fills in the form behind it. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import {
  type Answer,
  type CallOptions,
  type EngineName,
  type Service,
  type StartOptions,
  startService,
} from '../support/service.ts';
import { type Smtp, startSmtp } from '../support/smtp.ts';
import { newName, signUp, type User } from '../support/users.ts';
import { eventually, linkIn } from './mail.ts';

export interface Resets {
  /** Signs up a user with an e-mail address. */
  user(fields?: object): Promise<User & { email: string }>;
  request(email: unknown, options?: CallOptions): Promise<Answer>;
  /** Requests a link and waits for its mail. */
  link(email: string): Promise<URL>;
}

/** Starts a service that mails to the sink. */
export const startMailing = (sink: Smtp, options: StartOptions = {}): Promise<Service> =>
  startService({ ...options, env: { SMTP_URL: sink.url, MAIL_FROM: 'CRM <crm@example.com>', ...options.env } });

/** Session lifetime of the service of `useMailing`. */
export const SESSION_DAYS = 1;

interface Mailing {
  sink: Smtp;
  service: Service;
}

const started = new Map<EngineName, Promise<Mailing>>();

async function start(engine: EngineName): Promise<Mailing> {
  const sink = await startSmtp();
  const env = { LOG_LEVEL: 'debug', SESSION_DAYS: String(SESSION_DAYS) };
  return { sink, service: await startMailing(sink, { engine, env }) };
}

/**
 * Provides a service that mails to a sink, logs at level debug and has short sessions. The suites of this process share it.
 * @param receive gets both before the first test of the surrounding `describe`
 */
export function useMailing(receive: (running: Mailing) => void, engine: EngineName): Resets {
  let running: Mailing | undefined;
  before(async () => {
    const starting = started.get(engine) ?? start(engine);
    started.set(engine, starting);
    running = await starting;
    receive(running);
  });
  const get = () => running ?? assert.fail('the service does not run');
  return resetsOf(
    () => get().service,
    () => get().sink,
  );
}

after(async () => {
  for (const starting of started.values()) {
    const { service, sink } = await starting;
    await service.stop();
    await sink.close();
  }
});

export function resetsOf(service: () => Service, sink: () => Smtp): Resets {
  const request: Resets['request'] = (email, options) =>
    service().call('POST', '/platform/requestPasswordReset', { as: 'anonymous', body: { email }, ...options });
  return {
    request,
    async user(fields) {
      const email = `${newName()}@example.com`;
      return { ...(await signUp(service(), { email, ...fields })), email };
    },
    async link(email) {
      const to = (mail: { to: string[] }) => mail.to.includes(email);
      const before = sink().received.filter(to).length;
      assert.equal((await request(email)).status, 200);
      return linkIn(await eventually(() => sink().received.filter(to)[before]), service());
    },
  };
}

/** Opens the page of a link and sends its form as a browser does: to the form's own address, with its hidden fields. */
export async function fillIn(link: URL, password: string): Promise<{ status: number; text: string; headers: Headers }> {
  const page = await (await fetch(link)).text();
  const form = /<form\b[^>]*>/i.exec(page)?.[0] ?? '';
  assert.match(form, /method="?post/i, page);
  const action = new URL(/action="([^"]*)"/i.exec(form)?.[1] || link, link);
  const fields = new URLSearchParams();
  for (const [input] of page.matchAll(/<input\b[^>]*type="?hidden[^>]*>/gi))
    fields.append(/name="([^"]*)"/i.exec(input)?.[1] ?? '', /value="([^"]*)"/i.exec(input)?.[1] ?? '');
  assert.match(page, /<input\b[^>]*name="password"/i);
  fields.set('password', password);
  return submit(action, fields);
}

/** Sends the fields of the form. */
export async function submit(action: URL, fields: URLSearchParams | Record<string, string>) {
  const answer = await fetch(action, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}
