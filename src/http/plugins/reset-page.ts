import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../errors/fail.ts';
import { retryAfterOf } from '../../errors/render.ts';
import { errorOfWrite } from '../../errors/system-faults.ts';
import { networkOf } from '../../kernel/network.ts';
import { faultPlace } from '../../observe/index.ts';
import { withSystem } from '../../requests/index.ts';
import type { Store } from '../../storage/port.ts';
import { resetPassword, resetPath } from '../../users/index.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { pageHeaders } from '../pages/page.ts';
import { formPage, messagePage } from '../pages/password-reset.ts';

/** Maximum size of the form: the longest token and password with every character percent-encoded, and some room. */
const MAX_FORM_BYTES = 32 * 1024;

/**
 * Registers the page behind the link of a password reset. Opening it does not use up the token, because mail scanners open links, and does not reveal
 * whether the token is valid. Reference: users.md#password-reset.
 */
export function registerResetPage(server: FastifyInstance, services: Pick<HttpServices, 'systems' | 'conditions'>): void {
  const url = `${resetPath}/:appId`;
  server.route({
    method: ['GET', 'HEAD'],
    url,
    handler: (request, reply) =>
      answer(services, request, reply, async () => ({
        status: 200,
        html: formPage((request.query as ReadonlyMap<string, string>).get('token') ?? ''),
      })),
  });
  server.route({
    method: 'POST',
    url,
    bodyLimit: MAX_FORM_BYTES,
    handler: (request, reply) => answer(services, request, reply, (store) => submit(store, request)),
  });
}

interface Page {
  readonly status: number;
  readonly html: string;
}

async function submit(store: Store, { body, ip, id }: FastifyRequest): Promise<Page> {
  const form = new URLSearchParams(typeof body === 'string' ? body : '');
  const token = form.get('token') ?? '';
  const outcome = await resetPassword(store, token, form.get('password') ?? '', networkOf(ip ?? ''), id);
  if (outcome === 'weakPassword') return { status: 400, html: formPage(token, true) };
  return { status: outcome === 'done' ? 200 : 400, html: messagePage(outcome) };
}

/** Renders a page of a system and releases the system. */
async function answer(
  { systems, conditions }: Pick<HttpServices, 'systems' | 'conditions'>,
  request: FastifyRequest,
  reply: FastifyReply,
  make: (store: Store) => Promise<Page>,
): Promise<void> {
  let made: Page;
  try {
    const { appId } = request.params as { appId: string };
    made = (await withSystem(systems, appId, ({ store }) => make(store))) ?? { status: 404, html: messagePage('unknown') };
  } catch (thrown) {
    const error = errorOfWrite(thrown);
    if (!(error instanceof ServiceError)) conditions.met('a password reset failed', faultPlace(error), error);
    const retryAfter = retryAfterOf(error);
    if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
    const isRemoved = error instanceof ServiceError && error.key === 'unauthorized';
    made = { status: error instanceof ServiceError ? error.status : 500, html: messagePage(isRemoved ? 'unknown' : 'fault') };
  }
  reply.code(made.status).headers(pageHeaders).send(made.html);
}
