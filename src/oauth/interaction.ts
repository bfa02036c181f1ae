import type { FastifyReply, FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import { type AgentPermission, isAgentPermission } from '../access/index.ts';
import { ServiceError } from '../errors/fail.ts';
import { chooseLanguage, type Language } from '../kernel/language.ts';
import { networkOf } from '../kernel/network.ts';
import { readRow } from '../records/index.ts';
import type { System } from '../systems/index.ts';
import { agentFor, authenticate } from '../users/index.ts';
import type { IssuerAddresses } from './addresses.ts';
import { isDocumentAddress } from './clients/metadata.ts';
import { queryValue } from './http-adapter.ts';
import type { Asking } from './pages/client.ts';
import { consentPage } from './pages/consent.ts';
import { signInPage } from './pages/sign-in.ts';
import type { SignInFault } from './pages/texts.ts';

/** A request that waits for its user. */
type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** What comes of a visit to a page: another page, or the address where the browser goes on. */
export type Outcome =
  | {
      readonly status: number;
      readonly html: string;
      readonly redirectUri: string;
      /** Seconds until another attempt counts. */
      readonly retryAfter?: number | undefined;
    }
  | { readonly goTo: string };

/** What a visit works with. */
export interface Visit {
  readonly system: System;
  readonly addresses: IssuerAddresses;
  readonly provider: Provider;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Counts an attempt to sign in. @throws TooManyRequests (155) */
  readonly countAttempt: () => void;
}

/** There is no such request for this browser: it has ended, or begun in another one. */
class InteractionGone extends Error {}

/** Whether an error reports that no interaction of this browser is pending; `SessionNotFound` is the error of `oidc-provider`. */
export function isGone(error: unknown): boolean {
  return error instanceof InteractionGone || (error as { readonly name?: unknown }).name === 'SessionNotFound';
}

const SIGN_IN: ReadonlySet<string> = new Set(['login', 'select_account']);

/** Shows the page that a request waits with. @throws what `isGone` knows */
export async function showInteraction(visit: Visit): Promise<Outcome> {
  const { interaction, ...known } = await found(visit);
  return SIGN_IN.has(interaction.prompt.name)
    ? signInAgain(visit, interaction, known)
    : consentOrSignIn(visit, interaction, known);
}

/** Takes what a user says on the page. @throws what `isGone` knows */
export async function takeInteraction(visit: Visit): Promise<Outcome> {
  const { interaction, ...known } = await found(visit);
  const form = new URLSearchParams(typeof visit.request.body === 'string' ? visit.request.body : '');
  const decision = form.get('decision');
  if (decision === 'cancel') {
    const refusal = { error: 'access_denied', error_description: 'the user did not allow it' };
    return goOn(visit, refusal, false);
  }
  if (SIGN_IN.has(interaction.prompt.name)) return signIn(visit, interaction, known, form);
  if (decision === 'switch') {
    return signInAnew(visit, interaction, known);
  }
  return consent(visit, interaction, known, form);
}

interface Known {
  readonly asking: Asking;
  readonly language: Language;
}

async function found({ provider, request, reply }: Visit): Promise<Known & { readonly interaction: Interaction }> {
  const interaction = await provider.interactionDetails(request.raw, reply.raw);
  const { params, lastSubmission, uid } = interaction;
  if (uid !== (request.params as { readonly uid: string }).uid) throw new InteractionGone();
  const clientId = String(params.client_id);
  const client = await provider.Client.find(clientId);
  if (!client) throw new InteractionGone();
  const language = chooseLanguage({
    asked: queryValue(request, 'lang'),
    before: lastSubmission?.lang,
    locales: params.ui_locales,
    acceptLanguage: request.headers['accept-language'],
  });
  const publishedAt = isDocumentAddress(clientId) ? clientId : undefined;
  return { interaction, language, asking: { name: client.clientName, redirectUri: String(params.redirect_uri), publishedAt } };
}

/** An attempt that failed. */
interface Failed {
  readonly username: string;
  readonly fault: SignInFault;
  readonly status: number;
  readonly retryAfter: number | undefined;
}

function signInAgain({ system }: Visit, { params }: Interaction, { asking, language }: Known, attempt?: Failed): Outcome {
  const hint = typeof params.login_hint === 'string' ? params.login_hint.slice(0, 1_000) : '';
  const { username, fault, status, retryAfter } = attempt ?? { username: hint, status: 200 };
  return {
    status,
    html: signInPage({ language, system: system.name, asking, username, fault }),
    redirectUri: asking.redirectUri,
    retryAfter,
  };
}

const faults: ReadonlyMap<string, readonly [SignInFault, status: number]> = new Map([
  ['badLogin', ['badLogin', 400]],
  ['accountLocked', ['accountLocked', 400]],
  ['userInactive', ['userInactive', 400]],
  ['usernameMissing', ['missing', 400]],
  ['passwordMissing', ['missing', 400]],
  ['tooManyRequests', ['tooMany', 429]],
]);

async function signIn(visit: Visit, interaction: Interaction, known: Known, form: URLSearchParams): Promise<Outcome> {
  const { system, countAttempt, request } = visit;
  const username = form.get('username') ?? '';
  try {
    countAttempt();
    const { userId, mark } = await authenticate(system.store, {
      username,
      password: form.get('password'),
      network: networkOf(request.ip ?? ''),
    });
    if (interaction.session && interaction.session.accountId !== userId) await forgetUser(visit, interaction);
    const login = { accountId: userId, acr: mark, amr: ['pwd'] };
    return await goOn(visit, { login, select_account: {}, lang: known.language }, false);
  } catch (error) {
    const [fault, status] = (error instanceof ServiceError && faults.get(error.key)) || [];
    if (fault === undefined || status === undefined) throw error;
    return signInAgain(visit, interaction, known, {
      username: username.slice(0, 1_000),
      fault,
      status,
      retryAfter: (error as { readonly retryAfter?: number }).retryAfter,
    });
  }
}

/** What a user is asked for, and what of it he may give. */
interface Available {
  readonly userId: string;
  readonly asked: ReadonlySet<AgentPermission>;
  readonly available: ReadonlySet<AgentPermission>;
}

/** What the user may give of what is asked for; `null` where he is no longer who signed in. */
async function availableTo({ system }: Visit, { params, session }: Interaction): Promise<Available | null> {
  const asked = new Set(String(params.scope).split(' ').filter(isAgentPermission));
  const userId = session?.accountId;
  const caller = userId === undefined ? null : await agentFor(system.store, userId, asked);
  return userId === undefined || !caller?.agent ? null : { userId, asked, available: caller.agent.permissions };
}

const nameFields = ['name', 'username'] as const;

async function consentOrSignIn(visit: Visit, interaction: Interaction, known: Known): Promise<Outcome> {
  const given = await availableTo(visit, interaction);
  return given ? showConsent(visit, known, given, false) : signInAnew(visit, interaction, known);
}

async function signInAnew(visit: Visit, interaction: Interaction, { language }: Known): Promise<Outcome> {
  await forgetUser(visit, interaction);
  return goOn(visit, { lang: language }, false);
}

/** @param isEmpty whether he allowed it and ticked nothing */
async function showConsent({ system }: Visit, { asking, language }: Known, given: Available, isEmpty: boolean): Promise<Outcome> {
  const row = await readRow<{ name?: string; username?: string }>(system.store, '_User', nameFields, given.userId);
  const user = row?.username ?? row?.name ?? '';
  const html = consentPage({ language, system: system.name, asking, user, ...given, isEmpty });
  return { status: isEmpty ? 400 : 200, html, redirectUri: asking.redirectUri };
}

async function consent(visit: Visit, interaction: Interaction, known: Known, form: URLSearchParams): Promise<Outcome> {
  const { provider, addresses } = visit;
  const given = await availableTo(visit, interaction);
  if (!given) return signInAnew(visit, interaction, known);
  const ticked = form.getAll('permission').filter(isAgentPermission);
  const granted = ticked.filter((permission) => given.available.has(permission));
  if (granted.length === 0) return showConsent(visit, known, given, true);
  const grant = new provider.Grant({ accountId: given.userId, clientId: String(interaction.params.client_id) });
  grant.addResourceScope(addresses.resource, [...new Set(granted)].join(' '));
  return goOn(visit, { consent: { grantId: await grant.save() }, lang: known.language }, true);
}

/**
 * Lets the browser's session be nobody's, so that another user may sign in. The provider itself would end it by a page that sends itself
 * with a script.
 */
async function forgetUser({ provider, request, reply }: Visit, interaction: Interaction): Promise<void> {
  const session = await provider.Session.get(provider.createContext(request.raw, reply.raw));
  if (session.accountId !== undefined) {
    delete session.accountId;
    delete session.authorizations;
    delete session.acr;
    delete session.loginTs;
    await session.persist();
  }
  delete interaction.session;
  await interaction.persist();
}

/** @param isAddition to what the user did on the page before */
async function goOn({ provider, request, reply }: Visit, result: Record<string, unknown>, isAddition: boolean): Promise<Outcome> {
  const goTo = await provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission: isAddition });
  return { goTo };
}
