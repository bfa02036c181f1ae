/** What the server says in the page: `<meta name="console" content="{…}">`. */
export interface Settings {
  readonly language: 'he' | 'en';
  /** The path that the console stands at, as `/console`, or `/crm/console` where the service stands below a path. No slash at the end. */
  readonly root: string;
  /** The systems of this server; the only one, where there is one, is the default of sign-in. */
  readonly defaultAppId: string | null;
  /** Of React Aria's style elements. */
  readonly nonce: string;
  /** Another text with each build: an old program under a new server shows a page that asks to be loaded again. */
  readonly build: string;
}

export const settings: Settings = JSON.parse(
  globalThis.document?.querySelector<HTMLMetaElement>('meta[name=console]')?.content ??
    '{"language":"en","root":"/console","defaultAppId":null,"nonce":"","build":""}',
);
