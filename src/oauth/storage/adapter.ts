import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { JsonObject } from '../../kernel/json.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { keyOf } from './encryption.ts';
import { familyOfNetwork, type OpenItems } from './item-limits.ts';
import type { Items } from './items.ts';

/** Counting of open items, which are created without sign-in. */
interface Open {
  readonly items: Pick<OpenItems, 'added'>;
  /** Returns the network of the current request. */
  readonly network: () => string;
}

/** Lifetime of a registered client without a grant. */
const UNUSED_CLIENT_LIFETIME_MS = DAY_MS;

/** Stores the provider's items of one kind. The id (`jti`), a secret, and the expiry (`exp`), a column, are not part of the stored payload. */
export class ItemAdapter implements Adapter {
  readonly #items: Items;
  readonly #kind: string;
  readonly #open: Open;

  /** @param open counts items that are created without sign-in */
  constructor(items: Items, kind: string, open: Open) {
    this.#items = items;
    this.#kind = kind;
    this.#open = open;
  }

  /** @throws InvalidGrant if the item's grant was revoked meanwhile; unavailable */
  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<undefined> {
    const { jti: _id, exp, consumed: _consumed, ...rest } = payload as AdapterPayload & { readonly jti?: string };
    const isGrant = this.#kind === 'Grant';
    const { grantId, clientId } = rest;
    const isOpen = this.#isOpen(rest);
    const isPut = await this.#items.put(this.#kind, id, {
      payload: rest as JsonObject,
      expiresAt: this.#endOf(exp, expiresIn),
      ...(isOpen && { family: familyOfNetwork(this.#open.network()) }),
      ...(isGrant && { family: keyOf('Grant', id) }),
      ...(isGrant && clientId !== undefined && { keeps: keyOf('Client', clientId) }),
      ...(isBound(this.#kind, grantId) && { family: keyOf('Grant', grantId), requires: keyOf('Grant', grantId) }),
      ...(this.#kind === 'Session' && rest.uid !== undefined && { uid: rest.uid }),
    });
    if (!isPut) throw new errors.InvalidGrant('the grant was revoked');
    if (isOpen) await this.#open.items.added(this.#kind);
  }

  /** Whether an item is created without sign-in: a registered client, or a request whose user has not signed in. */
  #isOpen(payload: AdapterPayload): boolean {
    if (this.#kind === 'Client') return true;
    const { session, result } = payload as { readonly session?: { accountId?: string }; readonly result?: { login?: unknown } };
    return this.#kind === 'Interaction' && session?.accountId === undefined && result?.login === undefined;
  }

  #endOf(exp: number | undefined, expiresIn: number | undefined): number | null {
    if (exp !== undefined) return exp * 1_000;
    if (expiresIn !== undefined) return Date.now() + expiresIn * 1_000;
    return this.#kind === 'Client' ? Date.now() + UNUSED_CLIENT_LIFETIME_MS : null;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const item = await this.#items.read(this.#kind, id);
    if (!item) return undefined;
    const { payload, expiresAt, consumedAt } = item;
    if (this.#kind === 'Client') return payload as AdapterPayload;
    return {
      ...payload,
      jti: id,
      ...(expiresAt !== null && { exp: Math.floor(expiresAt / 1_000) }),
      ...(consumedAt !== null && { consumed: Math.floor(consumedAt / 1_000) }),
    } as AdapterPayload;
  }

  /** Finds a session by the `uid` that other items contain. Returns it without its id, which only the holder of its cookie may know. */
  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const item = await this.#items.readByUid(this.#kind, uid);
    return item ? ({ ...item.payload } as AdapterPayload) : undefined;
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  /** Marks a code or token as used. A second use revokes its whole family, including tokens of the first (RFC 9700). @throws InvalidGrant */
  async consume(id: string): Promise<undefined> {
    if (await this.#items.consume(this.#kind, id)) return;
    const family = await this.#items.familyOf(this.#kind, id);
    if (family !== null) await this.#items.removeFamily(family);
    throw new errors.InvalidGrant('it was used before');
  }

  async destroy(id: string): Promise<undefined> {
    if (this.#kind === 'Grant') await this.#items.removeFamily(keyOf('Grant', id));
    else await this.#items.remove(this.#kind, id);
  }

  async revokeByGrantId(grantId: string): Promise<undefined> {
    await this.#items.removeFamily(keyOf('Grant', grantId));
  }
}

/** Whether an item is revoked with its grant. Interactions refer to a grant too, but are not. */
const isBound = (kind: string, grantId: string | undefined): grantId is string =>
  grantId !== undefined && (kind === 'AuthorizationCode' || kind === 'RefreshToken');
