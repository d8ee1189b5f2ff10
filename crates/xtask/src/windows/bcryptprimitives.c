/* bcryptprimitives.dll, which Wine has from 8.13 on, and without which no program of Rust starts. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *bytes, SIZE_T count)
{
	while (count) {
		ULONG part = count > 0x10000000 ? 0x10000000 : (ULONG)count;

		if (!SystemFunction036(bytes, part))
			return FALSE;
		bytes += part;
		count -= part;
	}
	return TRUE;
}
