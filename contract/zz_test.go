package contract_test
import ("testing";"time";"math/rand";"strings";"interlock/contract")
func TestZZ(t *testing.T){
 r:=rand.New(rand.NewSource(1)); alphabet:="{}[]:,-?&*!|>'\"%@# \n\tab01.~<"
 worst:=time.Duration(0)
 for i:=0;i<6000;i++{
  b:=[]byte(tiny)
  for k:=0;k<1+r.Intn(4);k++{ p:=r.Intn(len(b)); switch r.Intn(3){case 0: b[p]=alphabet[r.Intn(len(alphabet))]; case 1: b=append(b[:p:p],b[min(len(b),p+1+r.Intn(30)):]...); case 2: q:=r.Intn(len(b)); e:=min(len(b),q+r.Intn(60)); ins:=string(b[q:e]); b=append(b[:p:p],append([]byte(ins),b[p:]...)...)}}
  s:=time.Now(); contract.Load("f",b); if d:=time.Since(s);d>worst{worst=d; t.Log(i,d); if d>time.Second{t.Logf("%q",b)}}
 }
 for n,s:=range map[string]string{"quote":"a: \""+strings.Repeat("x",1<<20-100)+"\"","lines":strings.Repeat("a:\n",300000),"keys":func()string{var b strings.Builder; for i:=0;b.Len()<1<<20-100;i++{b.WriteString("k"+strings.Repeat("x",i%7)+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676%26))+": 1\n")};return b.String()}(),"commas":"a: ["+strings.Repeat(",",1<<19)+"]","quotes":strings.Repeat("'",1<<19),"colon":strings.Repeat(":",1<<19),"pipes":strings.Repeat("a: |\n x\n",100000),"comments":strings.Repeat("#\n",1<<18),"bang":strings.Repeat("!",1<<19),"plain":strings.Repeat("a ",1<<18),"unclosed":"a: \""+strings.Repeat("x\n",1<<18)}{
  s0:=time.Now(); contract.Load("f",[]byte(s)); t.Log(n,time.Since(s0))
 }
}
