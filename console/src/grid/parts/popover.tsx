import { Popover as AriaPopover, type PopoverProps } from 'react-aria-components/Popover';

/** What opens beside a control. It stands in the page's `main`, as all content does. */
export function Popover({ className, ...props }: Omit<PopoverProps, 'className'> & { readonly className?: string }) {
  const main = document.getElementById('main');
  return (
    <AriaPopover
      {...props}
      className={className ? `g-popover ${className}` : 'g-popover'}
      {...(main ? { UNSTABLE_portalContainer: main } : {})}
    />
  );
}
