/** What the suites about password reset share: asking for a link, waiting for it, and filling in the form behind it. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { type Answer, type CallOptions, type Service, type StartOptions, startService } from '../support/service.ts';
import { type Smtp, startSmtp } from '../support/smtp.ts';
import { newName, signUp, type User } from '../support/users.ts';
import { eventually, linkIn } from './mail.ts';

export interface Resets {
  /** A user with an e-mail address. */
  user(fields?: object): Promise<User & { email: string }>;
  request(email: unknown, options?: CallOptions): Promise<Answer>;
  /** Asks for a link and waits for the mail that brings it. */
  link(email: string): Promise<URL>;
}

/** Starts a service that mails to the sink. */
export const startMailing = (sink: Smtp, options: StartOptions = {}): Promise<Service> =>
  startService({ ...options, env: { SMTP_URL: sink.url, MAIL_FROM: 'CRM <crm@example.com>', ...options.env } });

/** Starts a sink and a service that mails to it for the surrounding `describe`, and stops them after its last test. */
export function useMailing(started: (running: { sink: Smtp; service: Service }) => void, options: StartOptions = {}): Resets {
  let sink: Smtp | undefined;
  let service: Service | undefined;
  before(async () => {
    sink = await startSmtp();
    service = await startMailing(sink, options);
    started({ sink, service });
  });
  after(async () => {
    await service?.stop();
    await sink?.close();
  });
  return resetsOf(
    () => service as Service,
    () => sink as Smtp,
  );
}

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
