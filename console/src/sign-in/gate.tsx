import { pathsOf } from '../model/address.ts';
import { settings } from '../settings.ts';
import { SignInPage } from './sign-in-page.tsx';

/** The page `sign-in?returnTo=…&app=…`. The server decides where to go next: this program never follows `returnTo` itself. */
export function Gate() {
  const parameters = new URLSearchParams(location.search);
  const returnTo = parameters.get('returnTo');
  const app = parameters.get('app') || settings.defaultAppId;
  const onDone = (_me: unknown, appId: string) => {
    const next = new URLSearchParams({ app: appId, ...(returnTo === null ? {} : { returnTo }) });
    location.assign(returnTo === null ? pathsOf(settings.root, appId).home : `${settings.root}/sign-in?${next}`);
  };
  return <SignInPage appId={app} onDone={onDone} />;
}
